import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../src/command/program.ts';

// A made-up PATH of Windows: npm is npm.cmd there, and node is node.exe.
const folder = mkdtempSync(join(tmpdir(), 'command-line-'));
const [first, second] = [join(folder, 'node & tools'), join(folder, 'bin')];
for (const each of [first, second]) mkdirSync(each);
for (const path of [
  join(first, 'node.exe'),
  join(second, 'npm.cmd'),
  join(second, 'npm'),
  join(second, 'old.bat'),
]) {
  writeFileSync(path, '');
  chmodSync(path, 0o755);
}
writeFileSync(join(first, 'pnpm.cmd'), '');
writeFileSync(join(first, 'pnpm.exe'), '');
afterAll(() => rmSync(folder, { recursive: true }));
const windows = { PATH: `;${first};${second}`, ComSpec: 'C:/cmd.exe' };
const inShell = (text: string) => ({
  file: 'C:/cmd.exe',
  args: ['/d', '/s', '/c', `"${text}"`],
  windowsVerbatimArguments: true,
});

describe('on Windows', () => {
  test.each([
    [['npm', 'run', 'dev'], inShell(`"${join(second, 'npm.cmd')}" "run" "dev"`)],
    [['NPM.CMD'.toLowerCase(), 'a b&c^|<>'], inShell(`"${join(second, 'npm.cmd')}" "a b&c^|<>"`)],
    [['old'], inShell(`"${join(second, 'old.bat')}"`)],
    [[join(second, 'npm'), 'test'], inShell(`"${join(second, 'npm.cmd')}" "test"`)],
    [['node', 'a"b%c%'], { file: join(first, 'node.exe'), args: ['a"b%c%'] }],
    [['pnpm', 'dev'], { file: join(first, 'pnpm.exe'), args: ['dev'] }],
    [['missing', 'x'], { file: 'missing', args: ['x'] }],
  ])('%j is started as the command processor would find it', (command, expected) => {
    expect(commandLine(command, 'win32', windows)).toEqual(expected);
  });

  test.each(['say "hi"', '100%', 'a\nb'])(
    'an argument that a .cmd file would change is refused: %j',
    (text) => {
      expect(() => commandLine(['npm', 'run', text], 'win32', windows)).toThrow(
        /^npm is a \.cmd file, which cannot receive the argument .* Start the program itself/,
      );
    },
  );
});

test.each(['linux', 'darwin'] as const)('on %s a command is passed to the system unchanged', (platform) => {
  const command = ['npm', 'run', '100%'];
  expect(commandLine(command, platform, windows)).toEqual({ file: 'npm', args: ['run', '100%'] });
});
