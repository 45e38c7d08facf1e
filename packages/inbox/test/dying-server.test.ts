import { UnavailableError } from '@payment-service/core';
import pg from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import { createInbox, type InboxEvent, postgres } from '../src/index.ts';
import { callback } from './support/callbacks.ts';
import { dyingServer } from './support/dying-server.ts';
import { until } from './support/until.ts';
import { startWork } from './support/working.ts';

// It once ended a worker's process: an error event of a connection that nobody listened to yet.
it('a server that ends in the packet in which a connection comes about ends no process', async () => {
  const direct = new pg.Pool({ connectionString: inject('postgresUrl'), max: 2 });
  const pool = new pg.Pool({ connectionString: await dyingServer(inject('postgresUrl')), max: 5 });
  const events: InboxEvent[] = [];
  const options = { storeTimeoutMs: 500, onEvent: (event: InboxEvent) => events.push(event) };
  const inbox = createInbox({ store: postgres(pool, { schema: 'dying' }), ...options });
  onTestFinished(async () => {
    await inbox.close();
    await pool.end();
    await direct.end();
  });
  const sound = createInbox({ store: postgres(direct, { schema: 'dying' }) });
  await sound.ready();
  await sound.close();
  await expect(inbox.ready()).rejects.toThrow();
  await expect(inbox.receive(callback())).rejects.toThrow(UnavailableError);
  await expect(inbox.transaction(async () => undefined)).rejects.toThrow();
  inbox.handle(() => undefined);
  const stop = startWork(inbox, { concurrency: 2 });
  await until(() => events.filter(({ name }) => name === 'store.unavailable').length > 3);
  await stop();
});
