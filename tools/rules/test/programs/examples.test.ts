/** Starts the files of apps/examples, which users copy, and sends them callbacks and redirects. */
import { join } from 'node:path';
import { run } from '@payment-service/release/toolchains';
import { createSandbox, exampleEndpoints } from '@payment-service/sandbox';
import { expect, test } from 'vitest';
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
    const env = { SIGNING_KEY: sandbox.account.signingKey, NODE_ENV: 'development' };
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

test.each([
  ['client.ts', '', /^pay with \w+[\s\S]*^bank \w+[\s\S]*^MERCHANT_COLLECTION \d+ UGX$/m],
  ['own-endpoints.ts', '256772000001', /^pay on http:\/\/127\.0\.0\.1:\d+\/sandbox\/pay\/SBX-/],
  ['own-endpoints.ts', '256772000444', /^unknown POST \/example\/collections: .*do not send it again/],
  ['own-endpoints.ts', '256772000422', /^refused POST \/example\/collections: the service answered 422/],
])('apps/examples/%s calls the sandbox, with the number %s', async (file, PHONE, prints) => {
  const sandbox = createSandbox({ endpoints: exampleEndpoints });
  const { url } = await sandbox.listen({ port: 0 });
  try {
    const { publicKey, secretKey } = sandbox.account;
    const env = { BASE_URL: url, PUBLIC_KEY: publicKey, SECRET_KEY: secretKey, PHONE };
    const program = { command: process.execPath, args: [`apps/examples/${file}`], cwd: root, env };
    expect(await run({ ...program, isAlone: true })).toMatch(prints);
  } finally {
    await sandbox.close();
  }
});
