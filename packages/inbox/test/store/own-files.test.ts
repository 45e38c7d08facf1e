/** Bodies name payers, so no other user of the machine can read the files of an inbox (threat A65). */
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createInbox, sqlite } from '../../src/index.ts';
import { startChild } from '../support/child-process.ts';
import { runDoctor } from '../support/doctor.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const OWN = {
  'shop.db': '600',
  'shop.db-shm': '600',
  'shop.db-wal': '600',
  'shop.db-spool': '700',
  'shop.db-spool/spool.db': '600',
  'shop.db-spool/spool.db-shm': '600',
  'shop.db-spool/spool.db-wal': '600',
  ...(process.platform === 'linux' && { staging: '600' }),
};

async function runUnder(umask: string, folder: string): Promise<unknown> {
  const { output } = await startChild('own-files.ts', [folder, umask]).ended;
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  return last.startsWith('{') ? JSON.parse(last) : output;
}

/** What a group or others may do. */
function modeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && found.mode & 0o077;
}

// Windows has no modes: there these tests do not exist.
const UMASKS = process.platform === 'win32' ? [] : ['000', '022', '777'];

test.each(UMASKS.slice(0, 1))(
  'threat A65: under every umask, every file of an inbox belongs to its owner alone',
  async () => {
    const found = await Promise.all(UMASKS.map((umask) => runUnder(umask, temporaryFolder())));
    expect(found).toEqual(UMASKS.map(() => OWN));
  },
);

test.each(UMASKS.slice(1, 2))(
  'threat A65: doctor finds the readable files of an earlier build, and the program corrects their modes',
  async (umask) => {
    const folder = temporaryFolder();
    await runUnder(umask, folder);
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const paths = names.map((name) => join(folder, name)).filter((path) => statSync(path).isFile());
    const modes = (): (number | undefined)[] => paths.map((path) => modeOf(path));
    for (const path of paths) chmodSync(path, 0o644);
    const opened = modes();
    const found = await runDoctor(['--database', join(folder, 'shop.db')]);
    expect(found.names).toEqual(['problem files']);
    expect(found.seen).toContain(join(folder, 'shop.db'));
    // SQLite may have removed its other files.
    expect(modes().every((mode, index) => mode === opened[index] || mode === undefined)).toBe(true);
    const problems: string[] = [];
    const inbox = createInbox({
      store: sqlite(join(folder, 'shop.db')),
      onError: (_error, { kind }) => problems.push(kind),
    });
    await inbox.ready();
    await until(() => modes().every((mode) => !mode));
    await inbox.close();
    expect(problems).not.toContain('files_readable');
    expect((await runDoctor(['--database', join(folder, 'shop.db')])).names).toEqual([]);
  },
);

test.each(UMASKS.slice(1, 2))(
  'threat A65: a folder of a spool that exists keeps its mode, and its files belong to their owner alone',
  async () => {
    const folder = temporaryFolder();
    const spool = join(folder, 'shared');
    mkdirSync(spool, { mode: 0o755 });
    const other = join(spool, 'of-another-program');
    writeFileSync(other, '', { mode: 0o644 });
    writeFileSync(join(spool, '0123456789abcdef-1-x.json'), '', { mode: 0o644 });
    const problems: unknown[] = [];
    const store = sqlite(join(folder, 'shop.db'));
    const inbox = createInbox({ store, spool, onError: (_error, { kind }) => problems.push(kind) });
    await inbox.ready();
    await until(() => readdirSync(spool).length === 4);
    const modes = readdirSync(spool).map((name) => [name, modeOf(join(spool, name))]);
    await inbox.close();
    expect(Object.fromEntries(modes)).toEqual({
      'of-another-program': 0o044,
      'spool.db': 0,
      'spool.db-shm': 0,
      'spool.db-wal': 0,
    });
    expect([modeOf(spool), problems]).toEqual([0o055, []]);
  },
);

test.each(UMASKS.slice(1, 2))(
  'threat A65: the file that a symbolic link names is created for its owner',
  async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'data'));
    symlinkSync('data/real.db', join(folder, 'shop.db'));
    const inbox = createInbox({ store: sqlite(join(folder, 'shop.db')) });
    await inbox.ready();
    const files = readdirSync(join(folder, 'data'));
    const modes = files.map(
      (name) => `${name} ${(statSync(join(folder, 'data', name)).mode & 0o777).toString(8)}`,
    );
    await inbox.close();
    expect(modes.sort()).toEqual(['real.db 600', 'real.db-shm 600', 'real.db-spool 700', 'real.db-wal 600']);
  },
);
