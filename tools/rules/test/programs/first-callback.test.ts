/** The first callback in three commands: what a reader of a README types first must work exactly as written. */
import { describe, expect, test } from 'vitest';
import { emptyFolder } from '../../src/extracted.ts';
import { adapters } from '../../src/manifests.ts';
import { fileAt } from '../../src/repository.ts';
import { firstCallbackProblems, HEADING } from './first-callback.ts';

const folder = emptyFolder('first-callback');
const documents: readonly (readonly [path: string, printed: string])[] = [
  ['README.md', 'ORD-1001 is paid'],
  ...adapters.map((adapter) => [`packages/${adapter}/README.md`, 'ORD-1001 is paid'] as const),
];

test.each(documents)('%s: three commands lead to an accepted callback', async (path, printed) => {
  expect(await firstCallbackProblems(fileAt(path), folder, printed)).toEqual([]);
});

describe('controls', () => {
  const control = (text: string) => firstCallbackProblems({ path: 'control.md', text }, folder, 'paid');
  const program = (code: string): string => `\`\`\`ts program\n${code}\n\`\`\``;
  const sh = (command: string): string => `\`\`\`sh\n${command}\n\`\`\``;
  const run = 'npx payment-service-sandbox --callback-url http://127.0.0.1:3000/callbacks -- node server.mjs';

  test('a README without the section, and one whose steps are others, is reported', async () => {
    expect(await control('# A package\n')).toEqual([`it has no "${HEADING}"`]);
    expect(await control(`${HEADING}\n\n${sh('npm install x')}\n`)).toEqual([
      'it is not: install, a program, npx payment-service-sandbox … -- node <file>',
    ]);
  });

  test('a program that refuses the callback, far down, with a package that is not installed, is reported', async () => {
    const server = `import 'hono';
import { createServer } from 'node:http';
createServer((request, response) => {
  response.writeHead(401).end();
  setTimeout(() => process.exit(3), 500);
}).listen(Number(process.env.PORT), '127.0.0.1');`;
    const steps = [sh('npm install express'), program(server), sh(run)];
    expect(await control([...Array.from({ length: 20 }, () => ''), HEADING, ...steps].join('\n'))).toEqual([
      'it begins at line 21, below the first screen',
      'it does not say to save the program as server.mjs',
      'hono is not installed',
      '@payment-service/sandbox is not installed',
      expect.stringContaining('it ended with 3'),
    ]);
  });
});
