import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { readBytea } from '../src/postgres/read-bytea.ts';
import { paid } from './support/callbacks.ts';
import { poolShop } from './support/pool-shop.ts';
import { ORDER } from './support/shop.ts';
import { until } from './support/until.ts';
import { startWork } from './support/working.ts';

describe.each(['hex', 'escape'])('bytea_output = %s', (format) => {
  it('every byte is read as it is', async () => {
    const client = new pg.Client({ connectionString: inject('postgresUrl') });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`set bytea_output = ${format}`);
    const all = Buffer.from(Array.from({ length: 256 }, (_each, byte) => byte));
    const twice = Buffer.concat([all, Buffer.from('\\\\x00\\001'), all.reverse()]);
    for (const bytes of [twice, Buffer.alloc(0), ...Array.from(all, (byte) => Buffer.from([byte]))]) {
      const { rows } = await client.query<{ written: string }>({
        text: 'select $1::bytea as written',
        values: [bytes],
        types: { getTypeParser: () => String },
      });
      expect(readBytea(rows[0]?.written ?? '-')).toEqual(bytes);
    }
  });

  it('for the whole pool: what is received is settled', async () => {
    const { inbox } = poolShop({ options: `-c bytea_output=${format}` });
    inbox.handle(() => undefined);
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500));
    const stop = startWork(inbox);
    await until(async () => (await inbox.list())[0]?.state === 'settled');
    await stop();
    const details = await inbox.show(paid('ORD-1', 500).transitionId);
    expect(JSON.parse(details?.bodies[0]?.text ?? '')).toEqual(paid('ORD-1', 500).raw);
  });

  it('set by a handler: what comes after it is settled as well', async () => {
    const { inbox } = poolShop();
    inbox.handle(async ({ tx }) => {
      await tx.query(`set bytea_output = ${format}`);
    });
    for (const reference of ['A', 'B', 'C']) {
      await inbox.expect({ ...ORDER, merchant_reference: reference });
      await inbox.receive(paid(reference, 500));
    }
    const stop = startWork(inbox, { concurrency: 1 });
    await until(async () => (await inbox.stats()).states.settled === 3);
    await stop();
  });
});
