/** The programs of the READMEs, and the commands that a reader types first: both must work exactly as written. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { codeBlocks, emptyFolder } from '../../src/extracted.ts';
import { adapters } from '../../src/manifests.ts';
import { fencedBlocks, section } from '../../src/markdown.ts';
import { fileAt } from '../../src/repository.ts';
import { importedModules } from '../arrows/foreign-imports.ts';
import { MAX_LINES_OF_WHOLE_WAY, programProblems } from './program-problems.ts';
import { commandFile, withRunningProgram } from './running-program.ts';

const HEADING = '## The first callback in two commands';
const folder = emptyFolder('readmes');
const readmes = adapters.map((adapter) => `packages/${adapter}/README.md`);

test.each([...readmes, 'packages/inbox/README.md'])(
  'the one program of %s accepts the signed payment, refuses forged callbacks, and ends on SIGTERM',
  async (path) => {
    const [program, ...others] = codeBlocks(fileAt(path), 'program');
    if (program === undefined) throw new Error(`${path} has no program`);
    expect(others).toEqual([]);
    const printed = path.includes('/inbox/') ? 'ORD-1001 is credited' : undefined;
    expect(await programProblems(program, folder, printed)).toEqual([]);
  },
);

/** The shell commands of a part of a document, each on one line, and its program. */
function partsOf(path: string, heading: string) {
  const text = section(fileAt(path).text, heading);
  const shell = fencedBlocks(text).filter(({ info }) => info === 'sh');
  const [install = '', start = '', ...others] = shell.flatMap(({ code }) =>
    code
      .trim()
      .replaceAll(/\\\n */g, '')
      .split('\n'),
  );
  const [program] = codeBlocks({ path, text }, 'program');
  const [, file = ''] = / -- node (\S+)$/.exec(start) ?? [];
  expect([others, text.includes(`\`${file}\``)]).toEqual([[], true]);
  const needed = importedModules(program?.code ?? '').filter((module) => !module.startsWith('node:'));
  for (const module of [...needed, '@payment-service/sandbox']) {
    const name = module.split('/', module.startsWith('@') ? 2 : 1).join('/');
    expect(` ${install} `).toContain(` ${name} `);
  }
  return { text, start, file, program };
}

test.each(readmes)('%s: two commands lead to an accepted callback', (path) => {
  const { start } = partsOf(path, HEADING);
  // What the command does with the program below, it does with all of them.
  expect(start).toBe(
    'npx payment-service-sandbox --callback-url http://127.0.0.1:3000/payments/callbacks -- node server.mjs',
  );
});

test('README.md begins with the whole way of a payment, and its three commands lead to a page that says that it is paid', async () => {
  const { text, start, file, program } = partsOf('README.md', '## The first payment in three commands');
  if (program === undefined) throw new Error('there is no program');
  expect(await programProblems(program, folder, undefined, MAX_LINES_OF_WHOLE_WAY)).toEqual([]);
  const cwd = join(folder, 'whole-way');
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, file), program.code);
  const [, given = ''] = /^npx payment-service-sandbox (.+)$/.exec(start) ?? [];
  const [, curl = '', address = ''] = /`(curl .* (http:\S+))`/.exec(text) ?? [];
  expect(curl).toBe(`curl -L -w '%{url_effective}\\n' -d '' ${address}`);
  // `node` in the command is the running one.
  const env = { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) };
  const argumentsFor = (port: number): readonly string[] => [
    ...['--port', '0'],
    ...given.replace(':3000/', `:${port}/`).split(' '),
  ];
  const use: Parameters<typeof withRunningProgram>[2] = async ({ url, hasPrinted }) => {
    await hasPrinted('Start a payment');
    // As curl does it: a POST with an empty body, and a GET after 303. `placed.url` is its url_effective.
    const placed = await fetch(address.replace('http://127.0.0.1:3000', url), { method: 'POST' });
    const page = async (): Promise<string> => (await fetch(placed.url)).text();
    expect([placed.status, placed.url]).toEqual([200, expect.stringContaining('/orders/ORD-')]);
    for (const line of ['The callback was accepted.', ' is paid: 500']) await hasPrinted(line);
    await expect.poll(page, { timeout: 25_000 }).toBe('Your payment of UGX 500 has arrived.\n');
  };
  const { output } = await withRunningProgram(commandFile(), env, use, { cwd, argumentsFor });
  expect(output).not.toContain('NODE_ENV is not set');
  expect(output.match(/ is paid: 500/g)).toHaveLength(1);
});

test('AGENTS.md, which every package carries, begins with the same program', () => {
  const codeOf = (path: string): readonly string[] =>
    codeBlocks(fileAt(path), 'program').map(({ code }) => code);
  expect(codeOf('tools/release/published/AGENTS.md')).toEqual(codeOf('README.md'));
});

test('control: a long program that does nothing with the payment, and ends with an error, is reported', async () => {
  const code = `import { createServer } from 'node:http';${'\n'.repeat(26)}
createServer((request, response) => {
  response.writeHead(401).end('{"error":"unauthorized"}');
  setTimeout(() => process.exit(3), 500);
}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');`;
  expect(await programProblems({ source: 'control.md:1', code }, folder, 'paid')).toEqual([
    'it has 31 lines, more than 26',
    expect.stringContaining('a callback with another amount gets 401'),
    expect.stringContaining('a signed callback gets 401'),
    expect.stringContaining('it ended with 3 and printed: '),
  ]);
});
