import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { type CodeBlock, emptyFolder, extract, tsc } from '../extracted.ts';

/** The errors of strict TypeScript in code blocks, each block a module of its own, all of them in one run. */
export async function typeErrors(
  blocks: readonly CodeBlock[],
  folderName: string,
): Promise<readonly string[]> {
  const folder = emptyFolder(folderName);
  const files = blocks.map((block) => basename(extract(block, folder)));
  const tsconfig = {
    extends: '../../../../tsconfig.base.json',
    compilerOptions: {
      moduleDetection: 'force',
      // Readers write `process.env.SIGNING_KEY`, and no annotations for a declaration file.
      noPropertyAccessFromIndexSignature: false,
      isolatedDeclarations: false,
      declaration: false,
      // NestJS.
      experimentalDecorators: true,
    },
    files,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  try {
    await promisify(execFile)(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { cwd: folder });
    return [];
  } catch (error) {
    // A compiler that found errors prints them; any other failure is not about the blocks.
    if (
      error instanceof Error &&
      'stdout' in error &&
      typeof error.stdout === 'string' &&
      error.stdout !== ''
    )
      return error.stdout.trim().split('\n');
    throw error;
  }
}
