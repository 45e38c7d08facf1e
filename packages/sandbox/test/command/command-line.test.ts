import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandLine } from '../../src/command/program.ts';
import { emptyFolder } from '../support/folders.ts';

/** A made-up PATH of Windows, where npm is npm.cmd and node is node.exe. */
function onWindows() {
  const folder = emptyFolder();
  const [first, second] = [join(folder, 'node & tools'), join(folder, 'bin')];
  for (const each of [first, second]) mkdirSync(each);
  for (const name of ['node.exe', 'pnpm.cmd', 'pnpm.exe']) writeFileSync(join(first, name), '');
  for (const name of ['npm.cmd', 'npm', 'old.bat']) writeFileSync(join(second, name), '');
  const windows = { PATH: `;${first};${second}`, ComSpec: 'C:/cmd.exe' };
  const started = (command: readonly string[]) => {
    const { file, args, ...rest } = commandLine(command, 'win32', windows);
    const shown = [file, ...args].join(' ').replaceAll(first, 'FIRST').replaceAll(second, 'SECOND');
    return [shown.replaceAll('\\', '/'), rest];
  };
  return { second, windows, started };
}

const VERBATIM = { windowsVerbatimArguments: true };
test.each([
  [['npm', 'run', 'dev'], 'C:/cmd.exe /d /s /c ""SECOND/npm.cmd" "run" "dev""', VERBATIM],
  [['npm.cmd', 'a b&c^|<>'], 'C:/cmd.exe /d /s /c ""SECOND/npm.cmd" "a b&c^|<>""', VERBATIM],
  [['old'], 'C:/cmd.exe /d /s /c ""SECOND/old.bat""', VERBATIM],
  [['SECOND/npm', 'test'], 'C:/cmd.exe /d /s /c ""SECOND/npm.cmd" "test""', VERBATIM],
  [['node', 'a"b%c%'], 'FIRST/node.exe a"b%c%', {}],
  [['pnpm', 'dev'], 'FIRST/pnpm.exe dev', {}],
  [['missing', 'x'], 'missing x', {}],
])('on Windows %j is started as the command processor would find it', (command, expected, rest) => {
  const { second, started } = onWindows();
  expect(started(command.map((part) => part.replace('SECOND', second)))).toEqual([expected, rest]);
});

test.each(['say "hi"', '100%', 'a\nb'])(
  'on Windows an argument that a .cmd file would change is refused: %j',
  (text) => {
    const { started } = onWindows();
    expect(() => started(['npm', 'run', text])).toThrow(
      /^npm is a \.cmd file, which cannot receive the argument .* Start the program itself/,
    );
  },
);

test('elsewhere a command is passed to the system unchanged', () => {
  const started = commandLine(['npm', 'run', '100%'], 'linux', onWindows().windows);
  expect(started).toEqual({ file: 'npm', args: ['run', '100%'] });
});
