/** Starts the files of apps/examples, which users copy, and sends them callbacks and redirects. */
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from '@payment-service/release/toolchains';
import { createSandbox, exampleEndpoints } from '@payment-service/sandbox';
import { expect, test } from 'vitest';
import { emptyFolder } from '../../src/extracted.ts';
import { adapters } from '../../src/manifests.ts';
import { filesMatching, root } from '../../src/repository.ts';
import { exampleProblems } from './program-problems.ts';
import { withRunningProgram } from './running-program.ts';

const examples = filesMatching('apps/examples/*.ts');
// recipes.test.ts runs the one with a database.
const servers = examples.filter(({ path }) => !/\/(client|own-\w+|postgres-inbox)\.ts$/.test(path));

test.each(adapters)('apps/examples has an example for %s', (adapter) => {
  expect(servers.filter(({ text }) => text.includes(`'@payment-service/${adapter}'`))).not.toEqual([]);
});

test.each(servers.map((file) => [file.path, file] as const))(
  '%s accepts signed requests, refuses forged ones, and ends on SIGTERM',
  async (_path, file) => {
    expect(await exampleProblems(file, 'ORD-1001 is paid')).toEqual([]);
  },
);

test.each(servers.map(({ path }) => path))(
  'the sandbox finds nothing wrong with the callback route of %s',
  async (path) => {
    const sandbox = createSandbox();
    const env = { SIGNING_KEY: sandbox.account.signingKey };
    try {
      await withRunningProgram(join(root, path), env, async ({ url }) => {
        const { results } = await sandbox.check(`${url}/payments/callbacks`);
        expect(results.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
        expect(results).toHaveLength(22);
      });
    } finally {
      await sandbox.close();
    }
  },
);

test('apps/examples/client.ts reads the options, the banks and the balances from the sandbox', async () => {
  const sandbox = createSandbox();
  const { url } = await sandbox.listen({ port: 0 });
  try {
    const { publicKey, secretKey } = sandbox.account;
    const env = { BASE_URL: url, PUBLIC_KEY: publicKey, SECRET_KEY: secretKey };
    const program = { command: process.execPath, args: ['apps/examples/client.ts'], cwd: root, env };
    const stdout = await run({ ...program, isAlone: true });
    expect(stdout).toMatch(/^pay with \w+/m);
    expect(stdout).toMatch(/^bank \w+/m);
    expect(stdout).toMatch(/^MERCHANT_COLLECTION \d+ UGX$/m);
  } finally {
    await sandbox.close();
  }
});

test.each([
  ['256772000001', /^pay on http:\/\/127\.0\.0\.1:\d+\/sandbox\/pay\/SBX-/],
  ['256772000444', /^unknown POST \/example\/collections: .*do not send it again/],
  ['256772000422', /^refused POST \/example\/collections: the service answered 422/],
])('apps/examples/own-endpoints.ts starts a payment with the number %s', async (PHONE, prints) => {
  const sandbox = createSandbox({ endpoints: exampleEndpoints });
  const { url } = await sandbox.listen({ port: 0 });
  try {
    const { publicKey, secretKey } = sandbox.account;
    const env = { BASE_URL: url, PUBLIC_KEY: publicKey, SECRET_KEY: secretKey, PHONE };
    const args = ['apps/examples/own-endpoints.ts'];
    const program = { command: process.execPath, args, cwd: root, env };
    const stdout = await run({ ...program, isAlone: true });
    expect(stdout).toMatch(prints);
  } finally {
    await sandbox.close();
  }
});

test('control: an example that accepts everything, or that SIGTERM cuts off, is reported', async () => {
  const folder = emptyFolder('examples');
  const text = [
    "import { createServer } from 'node:http';",
    'createServer((request, response) => {',
    "  console.log('ORD-1001 is paid');",
    `  response.end('{"status":"accepted"}');`,
    "}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');",
  ].join('\n');
  writeFileSync(join(folder, 'careless.ts'), text);
  const path = relative(root, join(folder, 'careless.ts'));
  expect(await exampleProblems({ path, text }, 'ORD-1001 is paid')).toEqual([
    'a forged callback gets 200 {"status":"accepted"}',
    'a redirect leads to 200 {"status":"accepted"}',
    'a forged redirect gets 200',
    'a redirect leads to 200 {"status":"accepted"}',
    'a forged redirect gets 200',
    'it prints "ORD-1001 is paid" for a forged callback or another amount',
    'it ended with null on SIGTERM, not with 0',
  ]);
});
