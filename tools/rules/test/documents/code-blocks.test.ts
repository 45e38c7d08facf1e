import { expect, test } from 'vitest';
import { typeErrors } from '../../src/documents/type-errors.ts';
import { codeBlocks } from '../../src/extracted.ts';
import { filesMatching } from '../../src/repository.ts';

const blocks = filesMatching('*.md', '{packages,apps}/*/README.md', 'docs/**/*.md').flatMap((document) =>
  codeBlocks(document),
);

test('every block of TypeScript in the documents compiles, strictly', async () => {
  expect(blocks.filter(({ source }) => source.startsWith('README.md')).length).toBeGreaterThanOrEqual(1);
  expect(await typeErrors(blocks, 'blocks')).toEqual([]);
});

test('control: a name that does not exist is reported with the line of the document', async () => {
  const document = {
    path: 'docs/page.md',
    text: "# A page\n\n```ts\nimport { createWerifier } from '@payment-service/core';\nconsole.log(createWerifier);\n```\n",
  };
  const [error = '', ...others] = await typeErrors(codeBlocks(document), 'control');
  expect(error).toMatch(/^docs-page-4\.ts\(4,10\): error TS\d+: .*createWerifier/);
  expect(others).toEqual([]);
});
