/** The verbs about tables: what a DBA or a deploy runs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { messageOf } from '../../src/command/failure.ts';
import { createInbox, sqlite } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { runCommand } from '../support/command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('the output of sql creates the tables in a SQLite file, and --from leaves out existing versions', async () => {
  const path = join(temporaryFolder(), 'dba.db');
  const { stdout } = await runCommand(['sql', '--database', path]);
  expect(existsSync(path)).toBe(false);
  const database = new DatabaseSync(path);
  database.exec(stdout);
  database.close();
  expect(await runCommand(['status', '--database', path])).toMatchObject({ code: 0 });
  const inbox = createInbox({ store: sqlite(path) });
  onTestFinished(() => inbox.close());
  await inbox.route.onCallback(paid('ORD-1', 500));
  expect(JSON.parse((await runCommand(['sql', '--dialect', 'sqlite', '--json'])).stdout)).toHaveLength(1);
  expect(JSON.parse((await runCommand(['sql', '--from', '1', '--json'])).stdout)).toEqual([]);
});

test.each([
  ['postgres://shop:hunter2secret@127.0.0.1:1/shop', 'ECONNREFUSED'],
  ['postgres://shop:hunter2secret@no-such-host.invalid/shop', ''],
  ['postgres://shop:hunter/2secret@127.0.0.1:1/shop', ''],
  ['postgres://shop:hun?ter#2secret@127.0.0.1:1/shop', ''],
  ['postgres://shop:hunter2%2Fsecret@127.0.0.1:1/shop', 'ECONNREFUSED'],
  ['postgres://shop@127.0.0.1:1/shop?password=hunter2secret', 'ECONNREFUSED'],
  ['postgres:shop:hunter2secret', ''],
])('a password of DATABASE_URL is never printed: %s', async (DATABASE_URL, says) => {
  for (const verb of ['payments', 'status', 'migrate']) {
    const { code, stdout, stderr } = await runCommand([verb], { DATABASE_URL });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).not.toMatch(/hunter|hun\b|ter|2secret/);
    expect(stderr).toMatch(/^payment-service-inbox: .{10}/);
    expect(stderr).toContain(says);
  }
  // Nor if an error quotes the address, or a part of it that was read as another address.
  vi.stubEnv('DATABASE_URL', DATABASE_URL);
  onTestFinished(() => void vi.unstubAllEnvs());
  const [secret = DATABASE_URL] = /(?<=\/\/.*)hun[^@]*secret/.exec(DATABASE_URL) ?? [];
  for (const quoted of [DATABASE_URL, secret, ...secret.split(/[/?#]/)])
    expect(messageOf(new Error(`no host ${quoted}`))).toMatch(/^no host \*+/);
});
