/** Runs every block of the guide that claims to be complete: what a reader copies must do what the page says. */

import { pathToFileURL } from 'node:url';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { createInbox, postgres } from '@payment-service/inbox';
import { type PostgresServer, startPostgres } from '@payment-service/servers/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { codeBlocks, emptyFolder, extract, runnable } from '../../src/extracted.ts';
import { fencedBlocks } from '../../src/markdown.ts';
import { fileAt, filesMatching } from '../../src/repository.ts';
import { handlerProblems } from './handler-problems.ts';
import { MAX_LINES_OF_WHOLE_WAY, programProblems } from './program-problems.ts';
import { runScript, scriptsIn } from './run-script.ts';
import { withRunningProgram } from './running-program.ts';

const signingKey = 'GUIDE4SIGNING4KEY';
const folder = emptyFolder('guide');
const pages = filesMatching('docs/guide/*.md');
const programs = pages.flatMap((page) => codeBlocks(page, 'program'));

let database: PostgresServer;
beforeAll(async () => {
  database = await startPostgres();
});
afterAll(() => database.stop());

const named = <T extends { source: string }>(blocks: readonly T[]): [string, T][] =>
  blocks.map((block) => [block.source, block]);

test.each(named(programs.filter(({ source }) => !source.includes('refused.md'))))(
  'the program at %s marks the paid order as paid and nothing else, and ends on SIGTERM',
  async (_source, program) => {
    expect(program.code).toContain("process.once('SIGTERM'");
    const problems = programProblems(program, folder, 'ORD-1001 is paid', MAX_LINES_OF_WHOLE_WAY);
    expect(await problems).toEqual([]);
  },
);

test('the program of docs/guide/refused.md prints, during development, why a callback is refused', async () => {
  const [program, ...others] = codeBlocks(fileAt('docs/guide/refused.md'), 'program');
  if (program === undefined || others.length > 0) throw new Error('there is not one program');
  expect(await programProblems(program, folder, undefined)).toEqual([]);
  const body = JSON.stringify(sampleCallback());
  const signature = signCallback({ signingKey, data: sampleCallback({ event: 'TRANSACTION.COMPLETED' }) });
  const request = { method: 'POST', headers: { 'hmac-signature': signature }, body };
  const outputIn = async (variables: Readonly<Record<string, string>>): Promise<string> => {
    const file = runnable(program, folder);
    const { output } = await withRunningProgram(
      file,
      { SIGNING_KEY: signingKey, ...variables },
      async ({ url }) => {
        expect((await fetch(`${url}/payments/callbacks`, request)).status).toBe(401);
      },
    );
    return output;
  };
  expect(await outputIn({ NODE_ENV: 'development' })).toContain(
    'Callback refused (mismatch): A signed field was changed after signing.',
  );
  expect(await outputIn({})).toBe('');
});

test.each(named(pages.flatMap(scriptsIn)))(
  'the script at %s prints what the page shows',
  async (_source, script) => {
    expect(await runScript(script, folder)).toBe(script.printed);
  },
);

test.each(named(pages.flatMap((page) => codeBlocks(page, 'handler'))))(
  'the handler at %s accepts what is signed and refuses the rest',
  async (_source, handler) => {
    stubVariables();
    expect(await handlerProblems(handler, folder, signingKey)).toEqual([]);
  },
);

function stubVariables(): void {
  vi.stubEnv('SIGNING_KEY', signingKey);
  vi.stubEnv('DATABASE_URL', database.url);
  onTestFinished(() => void vi.unstubAllEnvs());
}

test('the scheduled function of docs/guide/serverless.md pays the order whose callback its handler has kept', async () => {
  stubVariables();
  const [block] = codeBlocks(fileAt('docs/guide/serverless.md'), 'handler');
  if (block === undefined) throw new Error('there is no handler');
  const pool = new pg.Pool({ connectionString: database.url });
  const inbox = createInbox({ store: postgres(pool) });
  onTestFinished(async () => {
    await inbox.close();
    await pool.end();
  });
  await pool.query('create table orders (reference text primary key, paid text)');
  await pool.query("insert into orders values ('ORD-1001', null)");
  await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: '500' });
  expect(await handlerProblems(block, folder, signingKey)).toEqual([]);
  const { applyPayments } = await import(pathToFileURL(extract(block, folder)).href);
  await applyPayments();
  expect((await pool.query('select paid from orders')).rows).toEqual([{ paid: '500' }]);
});

test('every block of code in the guide is run or compiled: here, those of containers in containers.test.ts, those of the ORMs in proofs/integrations, that of proxies in core', () => {
  const blocks = pages.flatMap(({ path, text }) => fencedBlocks(text).map(({ info }) => `${path}: ${info}`));
  const others = blocks.filter((block) => !/: (ts (program|run|handler)|text|sh)$/.test(block));
  expect(others).toEqual([
    ...['ts server', 'ts worker', 'dockerfile', 'yaml'].map((info) => `docs/guide/containers.md: ${info}`),
    ...Array(2).fill('docs/guide/moving.md: ts'),
    ...Array(5).fill('docs/guide/orms.md: js'),
    ...['docs/guide/orms.md: ts', 'docs/guide/proxies.md: ts'],
  ]);
});

test('control: a handler that accepts everything is reported', async () => {
  const code = "export const POST = async () => Response.json({ status: 'accepted' });\n";
  const block = { source: 'control.md:1', code };
  expect(await handlerProblems(block, folder, signingKey)).toEqual(['a forged callback gets 200']);
});

test('control: a program that warns is refused, and one whose attempt fails is not', async () => {
  const warning = "payment-service-inbox: The handler for 'paid' ended without an error.";
  const run = (line: string): Promise<string> => {
    const code = `console.log('done'); console.warn(${JSON.stringify(line)});\n`;
    return runScript({ source: 'control.md:3', code }, folder);
  };
  await expect(run(warning)).rejects.toThrow(`It warns: ${warning}`);
  expect(await run('payment-service-inbox: attempt 1 of transition a failed.')).toBe('done\n');
});

test('control: a script that prints something else is seen, and one without its output is refused', async () => {
  const page = (text: string) => ({ path: 'control.md', text });
  const script = '```ts run\nconsole.log(1 + 1);\n```\n';
  const [wrong] = scriptsIn(page(`${script}\n\`\`\`text\n3\n\`\`\`\n`));
  if (wrong === undefined) throw new Error('there is no script');
  expect([wrong.printed, await runScript(wrong, folder)]).toEqual(['3\n', '2\n']);
  expect(() => scriptsIn(page(script))).toThrow('control.md:2: the block after it is not what it prints');
});
