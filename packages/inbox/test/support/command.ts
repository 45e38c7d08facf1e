import { type ChildProcess, execFile, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Merchant } from './merchant.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const FOLDER = join(import.meta.dirname, '../..');
const PATH = join(FOLDER, 'src/command/command.ts');
const PSEUDO_TERMINAL = 'script';

let host: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs payment-service-inbox in the folder of this package, in a pipe. The runs of a test file share one process, one after
 * another, which ends with the file's: loading the command is most of the cost of a separate process.
 */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  let isEnded = false;
  // A run that hangs fails its own test only.
  onTestFinished(() => {
    if (isEnded) return;
    host?.kill('SIGKILL');
    [host, last] = [undefined, Promise.resolve()];
  });
  const run = last.then(async () => {
    host ??= fork(join(import.meta.dirname, 'programs/command-host.ts'), { cwd: FOLDER, execArgv: [] });
    host.send({ args, env: ownEnvironment(env) });
    const [result] = await once(host, 'message');
    isEnded = true;
    return result as CommandResult;
  });
  last = run;
  return run;
}

interface CommandOn {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  run(...given: readonly string[]): Promise<CommandResult>;
  /** Runs each of these lines, as a shell would read them. */
  type(...lines: readonly string[]): Promise<void>;
  /** What was typed and printed, and how it ended, without the differences between runs or engines. */
  screen(): string;
}

const LEFT_OUT: readonly (readonly [RegExp, string])[] = [
  [/20\d\d-\d\d-\d\d(T[\d:.]+Z| \d\d:\d\d UTC)/g, '…'],
  [/^20\d\d-\d\d-\d\d /gm, '… '],
  [/(?<!^\$.*) --(schema|database) \S+/gm, ''],
  [/In the spool of this machine: \S+/g, 'In the spool of this machine: …'],
  [/\b([0-9a-f]{8})[0-9a-f]{56}\b/g, '$1…'],
  [/\b[0-9a-f]{16}\b/g, '<revision>'],
  [/\/\S*inbox-test-\w+/g, '<folder>'],
  [/(PostgreSQL|SQLite) \d[^"\n]*/g, 'an engine'],
  [/\d+\.\d+\.\d+(?="|$)/gm, 'N.N.N'],
  [/waited \d+ s|\d{2,} seconds/g, '… seconds'],
  [/("oldestDueSeconds": )[\d.]+/g, '$1…'],
];

/** What a shell makes of a line. */
export function wordsIn(line: string): string[] {
  if (line === '') return [];
  const words = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], {
    encoding: 'utf8',
    cwd: temporaryFolder(),
  });
  return words.split('\0').slice(0, -1);
}

/** For tests that type many lines: on a busy machine, each takes seconds. */
export const SESSION = { timeout: 300_000 };

/** The command for a merchant's database. */
export function commandOn({ engine, programArguments: [, where = '', schema = ''] }: Merchant): CommandOn {
  const args = engine === 'sqlite' ? ['--database', where] : ['--schema', schema];
  const env: CommandOn['env'] = engine === 'sqlite' ? {} : { DATABASE_URL: where };
  const run: CommandOn['run'] = (...given) => runCommand([...given, ...args], env);
  const seen: string[] = [];
  return {
    ...{ args, env, run },
    async type(...lines) {
      for (const line of lines) {
        const { code, stdout, stderr } = await run(...wordsIn(line));
        // Of the flags, and not of the API.
        expect(stderr.replaceAll(/\/\S+/g, '')).not.toMatch(
          /\b(?!recordBalances)[a-z]+[A-Z]|\b\w+: \{|\b(replace|by|note|reference): /,
        );
        seen.push(`$ payment-service-inbox ${line}\n${stdout}${stderr}(${code})\n`);
      }
    },
    screen: () => LEFT_OUT.reduce((text, [what, by]) => text.replaceAll(what, by), seen.join('\n')),
  };
}

/** The same in a separate process, on a pseudo-terminal of `script`, whose arguments differ between Linux and the BSDs. */
export function runOnTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const command = [process.execPath, PATH, ...args];
  const quoted = command.map((each) => `'${each}'`).join(' ');
  const own = process.platform === 'linux' ? ['-qec', quoted, '/dev/null'] : ['-q', '/dev/null', ...command];
  const options = { cwd: FOLDER, env: ownEnvironment({ TERM: 'xterm-256color', ...env }) };
  return new Promise((resolve) => {
    const child = execFile(PSEUDO_TERMINAL, own, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    child.stdin?.end();
  });
}

/** Without this process's own environment: vitest sets FORCE_COLOR or NO_COLOR. */
function ownEnvironment(env: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const { PATH: path, NODE_COMPILE_CACHE } = process.env;
  return { PATH: path, NODE_COMPILE_CACHE, SHELL: '/bin/sh', ...env };
}
