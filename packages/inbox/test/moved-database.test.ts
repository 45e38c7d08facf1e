import { renameSync, rmSync } from 'node:fs';
import { UnavailableError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { paid } from './support/callbacks.ts';
import { type Merchant, newMerchant } from './support/merchant.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

describe('a sqlite file that is removed while it is open', () => {
  it('acknowledges nothing more, and shows in health()', async () => {
    const merchant = await newMerchant('sqlite');
    const inbox = merchant.open();
    await inbox.receive(paid('ORD-1', 500));
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${pathOf(merchant)}${suffix}`, { force: true });
    await expect(inbox.receive(paid('ORD-2', 500))).rejects.toBeInstanceOf(UnavailableError);
    await expect(inbox.transaction((tx) => merchant.credit(tx, 'x', '1'))).rejects.toThrow(/removed, moved/);
    expect(await inbox.health()).toMatchObject({ ok: false, problems: ['store_unavailable'] });
    expect(merchant.events.at(-1)).toMatchObject({ name: 'callback.unavailable', failure: 'SQLITE_1032' });
  });

  it('acknowledges into the spool, where there is one', async () => {
    const merchant = await newMerchant('sqlite');
    const inbox = merchant.open({ spool: `${temporaryFolder()}/spool.db` });
    await inbox.receive(paid('ORD-1', 500));
    rmSync(pathOf(merchant));
    await inbox.receive(paid('ORD-2', 500));
    expect(merchant.events.at(-1)).toMatchObject({ name: 'callback.spooled' });
  });

  it('goes on when the file is put back', async () => {
    const merchant = await newMerchant('sqlite');
    const inbox = merchant.open();
    await inbox.receive(paid('ORD-1', 500));
    const elsewhere = `${pathOf(merchant)}.elsewhere`;
    renameSync(pathOf(merchant), elsewhere);
    await expect(inbox.receive(paid('ORD-2', 500))).rejects.toBeInstanceOf(UnavailableError);
    renameSync(elsewhere, pathOf(merchant));
    await inbox.receive(paid('ORD-2', 500));
    expect(await inbox.list()).toHaveLength(2);
  });
});

function pathOf({ programArguments }: Merchant): string {
  return programArguments[1] ?? '';
}
