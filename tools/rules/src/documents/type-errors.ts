import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execute } from '@payment-service/release/toolchains';
import { type CodeBlock, emptyFolder, extract, tsc } from '../extracted.ts';

/** The errors of strict TypeScript in code blocks, each block as a separate module, all in one run. */
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
  const args = [tsc, '-p', folder, '--pretty', 'false'];
  const { code, output } = await execute({ command: process.execPath, args, cwd: folder });
  return code === 0 ? [] : output.trim().split('\n');
}
