import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { emptyDatabase } from '../src/postgres/empty-database.ts';
import { startPostgres } from '../src/postgres/index.ts';
import { stopProcess } from '../src/postgres/process-tree.ts';
import { programsFor, serverUser } from '../src/postgres/programs.ts';

const index = join(import.meta.dirname, '..', 'src', 'postgres', 'index.ts');

test('a command that starts a server keeps its exit code and leaves nothing behind', () => {
  const program = `import { startPostgres } from ${JSON.stringify(index)};
    const server = await startPostgres();
    await server.stop();
    process.exitCode = 3;`;
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const run = runProgram(program, folder);
  expect(run.status, run.stderr).toBe(3);
  expect(readdirSync(folder)).toEqual([]);
});

test('of three servers that start first, one leaves its data for all, and no other user can read it', async () => {
  const cache = temporaryFolder();
  const user = serverUser();
  const { initdb } = await programsFor(user, temporaryFolder());
  const starts = [0, 1, 2].map(async () => {
    const folder = temporaryFolder();
    if (user !== undefined) chownSync(folder, user.uid, user.gid);
    return emptyDatabase(initdb, folder, user, cache);
  });
  const [first, ...others] = await Promise.all(starts);
  if (first === undefined) throw new Error('nothing was made');
  expect(others.map(({ password }) => password)).toEqual([first.password, first.password]);
  const [name = '', ...rest] = readdirSync(cache);
  expect(rest).toEqual([]);
  if (process.platform !== 'win32') expect(statSync(join(cache, name)).mode & 0o777).toBe(0o700);
  const server = await startPostgres({}, first);
  onTestFinished(() => server.stop());
  expect(await server.processIds()).not.toEqual([]);
});

// Only Linux reports the state of a process.
test.each(process.platform === 'linux' ? ['R', 'S'] : [])(
  'a process in the state %s has stopped, and can start no other, when stopProcess() resolves',
  async (state) => {
    const program = state === 'R' ? 'for (;;);' : 'setInterval(() => undefined, 1);';
    for (let round = 0; round < 5; round += 1) {
      const { pid = 0 } = spawn(process.execPath, ['--eval', program]);
      onTestFinished(() => void process.kill(pid, 'SIGKILL'));
      await stopProcess(pid);
      expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) T /);
    }
  },
);

// Only root starts servers as another user: for other users this test does not exist, rather than being skipped.
describe.each([serverUser()].filter((user) => user !== undefined))(
  'as root, with $uid as its user',
  (user) => {
    test('PostgreSQL starts from a folder that only root may enter, out of a copy', async () => {
      const { postgres } = await programsFor(undefined, '');
      const closed = temporaryFolder();
      const installed = join(closed, 'installed');
      cpSync(join(dirname(postgres), '..'), installed, { recursive: true, verbatimSymlinks: true });
      // With the modes of a strict umask.
      spawnSync('chmod', ['-R', 'go-rwx', installed]);
      const folder = temporaryFolder();
      chmodSync(folder, 0o755);
      const control = spawnSync(join(installed, 'bin', 'postgres'), ['--version'], user);
      expect(control.error).toMatchObject({ code: 'EACCES' });
      const programs = await programsFor(user, folder, installed);
      expect(programs.postgres.startsWith(folder)).toBe(true);
      for (const program of [programs.initdb, programs.postgres]) {
        expect(spawnSync(program, ['--version'], { ...user, encoding: 'utf8' }).stdout).toMatch(/PostgreSQL/);
      }
    });

    test('PostgreSQL that its user can reach is not copied', async () => {
      const reachable = temporaryFolder();
      const { postgres } = await programsFor(undefined, '');
      cpSync(join(dirname(postgres), '..'), reachable, { recursive: true, verbatimSymlinks: true });
      chmodSync(reachable, 0o755);
      const programs = await programsFor(user, temporaryFolder(), reachable);
      expect(programs.postgres).toBe(join(reachable, 'bin', 'postgres'));
    });

    test('a temporary folder that only root may enter is named in the error, and left empty', () => {
      const folder = temporaryFolder();
      const program = `import { startPostgres } from ${JSON.stringify(index)}; await startPostgres();`;
      const run = runProgram(program, folder);
      expect(run.status).toBe(1);
      expect(run.stderr).toContain(`set TMPDIR to a folder that every user may enter, not ${folder}`);
      expect(readdirSync(folder)).toEqual([]);
    });
  },
);

function runProgram(program: string, folder: string): { status: number | null; stderr: string } {
  const env = { ...process.env, TMPDIR: folder };
  return spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8', env });
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payment-service-postgres-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
