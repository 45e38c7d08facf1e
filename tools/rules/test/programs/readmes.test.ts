/** The programs of the READMEs, and the three commands that a reader types first: both must work exactly as written. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { codeBlocks, emptyFolder } from '../../src/extracted.ts';
import { adapters } from '../../src/manifests.ts';
import { fencedBlocks, section } from '../../src/markdown.ts';
import { fileAt } from '../../src/repository.ts';
import { importedModules } from '../arrows/foreign-imports.ts';
import { programProblems } from './program-problems.ts';
import { commandFile, withRunningProgram } from './running-program.ts';

const HEADING = '## The first callback in three commands';
const folder = emptyFolder('readmes');
const readmes = ['README.md', ...adapters.map((adapter) => `packages/${adapter}/README.md`)];

test.each([...readmes, 'packages/inbox/README.md'])(
  'the one program of %s accepts the signed payment, refuses forged callbacks, and ends on SIGTERM',
  async (path) => {
    const [program, ...others] = codeBlocks(fileAt(path), 'program');
    if (program === undefined) throw new Error(`${path} has no program`);
    expect(others).toEqual([]);
    const printed = { 'README.md': 'ORD-1001 is paid', 'packages/inbox/README.md': 'ORD-1001 is credited' };
    expect(await programProblems(program, folder, printed[path as keyof typeof printed])).toEqual([]);
  },
);

test.each(readmes)('%s: three commands lead to an accepted callback', async (path) => {
  const text = section(fileAt(path).text, HEADING);
  const shell = fencedBlocks(text).filter(({ info }) => info === 'sh');
  const [install = '', start = '', ...others] = shell.flatMap(({ code }) =>
    code
      .trim()
      .replaceAll(/\\\n */g, '')
      .split('\n'),
  );
  const command = /^npx payment-service-sandbox --callback-url (\S+) -- node (\S+)$/.exec(start);
  const [, address = '', file = ''] = command ?? [];
  const [program] = codeBlocks({ path, text }, 'program');
  expect([others, text.includes(`\`${file}\``)]).toEqual([[], true]);
  const needed = importedModules(program?.code ?? '').filter((module) => !module.startsWith('node:'));
  for (const module of [...needed, '@payment-service/sandbox']) {
    const name = module.split('/', module.startsWith('@') ? 2 : 1).join('/');
    expect(` ${install} `).toContain(` ${name} `);
  }
  // The program of each README runs in the test above. What the command does with one, it does with all of them.
  if (path !== 'README.md') {
    expect([address, file]).toEqual(['http://127.0.0.1:3000/payments/callbacks', 'server.mjs']);
    return;
  }
  const cwd = join(folder, path.replaceAll('/', '-'));
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, file), program?.code ?? '');
  // `node` in the command is the running one.
  const env = { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) };
  const argumentsFor = (port: number): readonly string[] => {
    const url = address.replace(':3000/', `:${port}/`);
    return ['--port', '0', '--callback-url', url, '--', 'node', file];
  };
  const use: Parameters<typeof withRunningProgram>[2] = async ({ hasPrinted }) => {
    for (const line of ['The callback was accepted.', 'ORD-1001 is paid']) await hasPrinted(line);
  };
  const { output } = await withRunningProgram(commandFile(), env, use, { cwd, argumentsFor });
  expect(output).not.toContain('NODE_ENV is not set');
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
