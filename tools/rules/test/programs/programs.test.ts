/** Starts the programs of the READMEs and sends them callbacks: what a reader copies must run unchanged. */
import { describe, expect, test } from 'vitest';
import { type CodeBlock, codeBlocks, emptyFolder } from '../../src/extracted.ts';
import { adapters } from '../../src/manifests.ts';
import { fileAt } from '../../src/repository.ts';
import { programProblems } from './program-problems.ts';

const folder = emptyFolder('programs');
/** What each program prints only about the genuine payment. */
const READMES: readonly (readonly [path: string, printed: string | undefined])[] = [
  ['README.md', 'ORD-1001 is paid'],
  ['packages/inbox/README.md', 'transition.settled'],
  ...adapters.map((adapter) => [`packages/${adapter}/README.md`, undefined] as const),
];

test.each(READMES)(
  'the one program of %s accepts the signed payment once, refuses forged callbacks, and ends on SIGTERM',
  async (path, printed) => {
    const [program, ...others] = codeBlocks(fileAt(path), 'program');
    if (program === undefined) throw new Error(`${path} has no program`);
    expect(others).toEqual([]);
    expect(await programProblems(program, folder, printed)).toEqual([]);
  },
);

describe('controls', () => {
  const program = (code: string): CodeBlock => ({ source: 'control.md:1', code });

  test('a long program on another port, open to the network, that ends immediately is reported', async () => {
    const code = `${'\n'.repeat(26)}console.log('cannot start');`;
    expect(await programProblems(program(code), folder, undefined)).toEqual([
      'it has 27 lines, more than 26',
      "it does not listen on '127.0.0.1' only",
      'its port is not PORT, or else 3000',
      expect.stringContaining('it ended with 0 and printed: cannot start'),
    ]);
  });

  test('a program that does nothing with the payment is reported', async () => {
    const code = `import { createServer } from 'node:http';
createServer((request, response) => {
  response.writeHead(401).end('{"error":"unauthorized"}');
  setTimeout(() => process.exit(3), 500);
}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');`;
    expect(await programProblems(program(code), folder, 'paid')).toEqual([
      expect.stringContaining('a callback with another amount gets 401'),
      expect.stringContaining('a signed callback gets 401'),
      expect.stringContaining('it ended with 3 and printed: '),
    ]);
  });
});
