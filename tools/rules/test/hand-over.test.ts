/** The `pnpm` in node_modules/.bin hands over to the pnpm that started it: to that one, and never to itself. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyFolder } from '../src/extracted.ts';
import { root } from '../src/repository.ts';

const HAND_OVER = join(root, 'tools/release/pnpm.mjs');
const folder = emptyFolder('hand-over');

test('arguments and the exit code pass through the hand-over', async () => {
  const program = written('pnpm.mjs', 'console.log(process.argv[2]); process.exitCode = 7;');
  expect(await handOver(program)).toEqual({ code: 7, stdout: 'pack\n', stderr: '' });
});

test('a script of pnpm below the hand-over may use the hand-over again', async () => {
  // Sets the variable in which pnpm names itself to its scripts.
  const script = startingHandOver("{ ...process.env, npm_execpath: process.argv[1] + '.inner.mjs' }");
  const program = written('outer.mjs', script);
  written('outer.mjs.inner.mjs', "console.log('inner');");
  expect(await handOver(program)).toEqual({ code: 0, stdout: 'inner\n', stderr: '' });
});

test('a hand-over that would start itself says so and ends', async () => {
  // Like the script in node_modules/.bin. It gives up at the fifth start, so that the old failure ends.
  const starts = join(folder, 'starts');
  const count = `fs.appendFileSync(${JSON.stringify(starts)}, '.');
    if (fs.readFileSync(${JSON.stringify(starts)}).length >= 5) process.exit(5);`;
  const program = written('itself.mjs', `${count}\n${startingHandOver('process.env')}`);
  const { code, stderr } = await handOver(program);
  expect(code).toBe(1);
  expect(stderr).toContain('npm_execpath names this program itself');
  expect(readFileSync(starts, 'utf8')).toBe('.');
});

test('a hand-over that no pnpm started says what to do', async () => {
  const { code, stderr } = await handOver(undefined);
  expect([code, stderr]).toEqual([1, expect.stringContaining('npm_execpath is not set')]);
});

function written(name: string, code: string): string {
  const file = join(folder, name);
  writeFileSync(file, code);
  return file;
}

function startingHandOver(env: string): string {
  return `import fs from 'node:fs';
    import { spawnSync } from 'node:child_process';
    const args = [${JSON.stringify(HAND_OVER)}, ...process.argv.slice(2)];
    process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit', env: ${env} }).status;`;
}

function handOver(program: string | undefined): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const env = { ...process.env, npm_execpath: program };
  return new Promise((resolve) => {
    execFile(process.execPath, [HAND_OVER, 'pack'], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}
