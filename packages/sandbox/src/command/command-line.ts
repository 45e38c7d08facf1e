import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from './command-error.ts';

/** What spawn() takes. */
export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  readonly windowsVerbatimArguments?: true;
}

const BATCH = /\.(cmd|bat)$/i;

/**
 * A command as spawn() can start it. On Windows, npm and the programs of packages are .cmd files: spawn() neither finds them
 * nor starts them, and only the command processor does. Elsewhere the command is returned unchanged.
 *
 * @throws {CommandError} for an argument that no .cmd file can receive unchanged.
 */
export function commandLine(
  [file = '', ...args]: readonly string[],
  platform: NodeJS.Platform,
  { PATH = '', PATHEXT = '.COM;.EXE;.BAT;.CMD', ComSpec = 'cmd.exe' }: NodeJS.ProcessEnv,
): CommandLine {
  const found = platform === 'win32' ? onWindows(file, PATH, PATHEXT) : file;
  if (platform !== 'win32' || !BATCH.test(found)) return { file: found, args };
  // Between quotation marks everything is itself, here and where the file passes it on, except these.
  const unsafe = [found, ...args].find((part) => /["%\r\n]/.test(part));
  if (unsafe !== undefined)
    throw new CommandError(
      `${file} is a .cmd file, which cannot receive the argument ${JSON.stringify(unsafe)}: it contains a quotation mark, a percent sign or a line break. Start the program itself, such as: node server.mjs`,
      2,
    );
  const quoted = [found, ...args].map((part) => `"${part}"`).join(' ');
  return { file: ComSpec, args: ['/d', '/s', '/c', `"${quoted}"`], windowsVerbatimArguments: true };
}

/** As the command processor searches, without the working directory: its files need a path, such as .\start.cmd. */
function onWindows(file: string, path: string, extensions: string): string {
  const folders = /[\\/]/.test(file) ? [''] : path.split(';').filter(Boolean);
  const endings = extensions.toLowerCase().split(';');
  const isComplete = endings.some((ending) => file.toLowerCase().endsWith(ending));
  const names = isComplete ? [file] : endings.map((ending) => file + ending);
  const paths = folders.flatMap((folder) => names.map((name) => (folder === '' ? name : join(folder, name))));
  return paths.find((each) => existsSync(each)) ?? file;
}
