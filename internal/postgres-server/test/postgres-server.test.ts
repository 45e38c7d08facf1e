import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../src/index.ts';

const index = join(import.meta.dirname, '..', 'src', 'index.ts');
let server: PostgresServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

test('a command that starts a server keeps its exit code', () => {
  const program = `import { startPostgres } from ${JSON.stringify(index)};
    const server = await startPostgres();
    await server.stop();
    process.exitCode = 3;`;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
  expect(run.status, run.stderr).toBe(3);
});

test.each(['postmaster', 'everything'] as const)(
  'killed (%s), it starts again on the same port',
  async (what) => {
    server = await startPostgres();
    const { url } = server;
    const killed = await server.processIds();
    expect(killed.length).toBeGreaterThan(1);
    await server.kill(what);
    await server.restart();
    expect(server.url).toBe(url);
    const started = await server.processIds();
    expect(started.length).toBeGreaterThan(1);
    expect(started.filter((pid) => killed.includes(pid))).toEqual([]);
  },
);
