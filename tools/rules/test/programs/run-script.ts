import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CodeBlock, extract } from '../../src/extracted.ts';
import { fencedBlocks } from '../../src/markdown.ts';
import type { TextFile } from '../../src/repository.ts';
import { mustNotWarn } from './running-program.ts';

const MAX_RUN_MS = 100_000;

/** A complete program that ends on its own: ```` ```ts run ````. The next block, ```` ```text ````, shows its output. */
export interface Script extends CodeBlock {
  readonly printed: string;
}

export function scriptsIn(document: TextFile): readonly Script[] {
  const blocks = fencedBlocks(document.text);
  return blocks.flatMap(({ info, code, line }, index) => {
    if (info !== 'ts run') return [];
    const { info: following, code: printed } = blocks[index + 1] ?? {};
    const source = `${document.path}:${line}`;
    if (following !== 'text' || printed === undefined)
      throw new Error(`${source}: the block after it is not what it prints`);
    return [{ source, code, printed }];
  });
}

let host: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a script in its own empty folder, which is removed, with `NODE_ENV=development`, as the guide says, and little else. All
 * scripts of a test file share one process, one after another: to load the packages takes longer than most scripts.
 *
 * @returns what it wrote to stdout.
 */
export function runScript(
  script: CodeBlock,
  folder: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const running = last.then(() => runIn(extract(script, folder), variables));
  last = running.catch(() => undefined);
  return running;
}

async function runIn(file: string, variables: Readonly<Record<string, string>>): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'script-'));
  host ??= startHost();
  const child = host;
  // A script that hangs fails alone: the next one gets another process.
  const late = setTimeout(() => child.kill('SIGKILL'), MAX_RUN_MS);
  try {
    child.send({ file, cwd, env: { NO_COLOR: '1', NODE_ENV: 'development', ...variables } });
    const ended = await new Promise<unknown>((resolve) => {
      child.once('message', resolve).once('exit', resolve);
    });
    if (typeof ended !== 'object' || ended === null) {
      host = undefined;
      throw new Error(`${file} ended its process, or took longer than ${MAX_RUN_MS} ms.`);
    }
    const { stdout, output, problem } = ended as Record<'stdout' | 'output' | 'problem', string>;
    if (problem !== '') throw new Error(`${file}: ${problem}\n${output}`);
    mustNotWarn(output);
    return stdout;
  } finally {
    clearTimeout(late);
    child.removeAllListeners();
    rmSync(cwd, { recursive: true, maxRetries: 20 });
  }
}

function startHost(): ChildProcess {
  const { NODE_COMPILE_CACHE } = process.env;
  const env = { NODE_COMPILE_CACHE, NO_COLOR: '1', NODE_ENV: 'development' };
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
  return fork(join(import.meta.dirname, 'script-host.ts'), { env, execArgv: [], stdio: [...stdio] });
}
