import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '@payment-service/release/toolchains';
import { type CodeBlock, extract } from '../../src/extracted.ts';
import { fencedBlocks } from '../../src/markdown.ts';
import type { TextFile } from '../../src/repository.ts';

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

/**
 * Runs a script in its own empty folder, which is removed, with `NODE_ENV=development`, as the guide says, and little else.
 *
 * @returns all its output.
 */
export async function runScript(
  script: CodeBlock,
  folder: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'script-'));
  try {
    const args = [extract(script, folder)];
    const env = { NO_COLOR: '1', NODE_ENV: 'development', ...variables };
    return await run({ command: process.execPath, args, cwd, env, isAlone: true });
  } finally {
    rmSync(cwd, { recursive: true, maxRetries: 20 });
  }
}
