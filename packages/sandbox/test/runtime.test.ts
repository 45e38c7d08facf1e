import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { collection } from './support/api.ts';
import { runProgram } from './support/command.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();

test('in memory it needs nothing of Node: only the command imports node: or a Node server at the start', async () => {
  const directory = new URL('../src/', import.meta.url);
  const files = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(30);
  for (const name of files.filter((one) => !/^command[/\\]/.test(one))) {
    const text = await readFile(new URL(name, directory), 'utf8');
    const imports = [...text.matchAll(/^import (?!type )[^;]*? from '(node:.*|@hono\/node-server)';$/gm)];
    expect(imports, name).toEqual([]);
  }
});

test('after close() nothing keeps the process alive: no timer, no socket, no file', async () => {
  const entry = new URL('../src/index.ts', import.meta.url);
  const program = `
    import { createSandbox } from ${JSON.stringify(entry.href)};
    const sandbox = createSandbox();
    const { url } = await sandbox.listen();
    const request = ${JSON.stringify(collection)};
    sandbox.collect({ ...request, callback_url: url, misbehave: { late_ms: 86_400_000 } });
    sandbox.collect({ ...request, callback_url: url, misbehave: { out_of_order: true } });
    sandbox.collect({ ...request, callback_url: url, retry: { backoff_ms: 86_400_000, max_backoff_ms: 86_400_000 } });
    await fetch(url);
    const waiting = sandbox.idle();
    await sandbox.close();
    await waiting;
    process.on('exit', () => console.log('ended without a call'));
  `;
  const ended = await runProgram(process.execPath, ['--input-type=module', '-e', program]);
  expect(ended).toEqual({ code: 0, stdout: 'ended without a call\n', stderr: '' });
});

test('a failure of the sandbox itself is a 500 without details, and is passed to onError', async () => {
  const errors: unknown[] = [];
  let broken = false;
  const failure = new Error('The disk of account 42 is full');
  const now = (): number => {
    if (broken) throw failure;
    return 0;
  };
  const clock = { now, sleep: () => Promise.resolve() };
  stage.open({ callbackUrl: undefined, clock, onError: (error) => errors.push(error) });
  broken = true;
  const { status, body } = await stage.call('POST', '/sandbox/collections', collection);
  expect([status, body.code, body.status, body.data]).toEqual([500, 500, 'error', {}]);
  expect(body.message).not.toContain('disk');
  expect(errors).toEqual([failure]);
  broken = false;
  expect(await stage.list('/sandbox/transactions')).toEqual([]);
});
