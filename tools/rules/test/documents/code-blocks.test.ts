import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execute } from '@payment-service/release/toolchains';
import { expect, test } from 'vitest';
import { type CodeBlock, codeBlocks, emptyFolder, extract, tsc } from '../../src/extracted.ts';
import { fencedBlocks } from '../../src/markdown.ts';
import { filesMatching } from '../../src/repository.ts';

/** The errors of strict TypeScript in code blocks, each block as a separate module, all in one run. */
async function typeErrors(blocks: readonly CodeBlock[], folderName: string): Promise<readonly string[]> {
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

const blocks = filesMatching('*.md', '{packages,apps}/*/README.md', 'docs/**/*.md').flatMap((document) =>
  codeBlocks(document),
);

test('programs and commands have at most 80 characters a line, the width of a column of the site', () => {
  const documents = filesMatching('README.md', 'packages/*/README.md', 'docs/**/*.md');
  const long = documents.flatMap(({ path, text }) =>
    fencedBlocks(text)
      .filter(({ info }) => /^(ts|js|sh|sql)\b/.test(info))
      .flatMap(({ code, line }) => code.split('\n').map((part, index) => `${path}:${line + index}: ${part}`))
      .filter((place) => place.replace(/^[^:]+:\d+: /, '').length > 80),
  );
  expect(long).toEqual([]);
});

test('every block of TypeScript in the documents compiles, strictly, and a name that does not exist is reported with its line (control)', async () => {
  expect(blocks.filter(({ source }) => source.startsWith('README.md')).length).toBeGreaterThanOrEqual(1);
  const control = {
    path: 'docs/page.md',
    text: "# A page\n\n```ts\nimport { createWerifier } from '@payment-service/core';\nconsole.log(createWerifier);\n```\n",
  };
  const [error = '', ...others] = await typeErrors([...blocks, ...codeBlocks(control)], 'blocks');
  expect(others).toEqual([]);
  expect(error).toMatch(/^docs-page-4\.ts\(4,10\): error TS\d+: .*createWerifier/);
});
