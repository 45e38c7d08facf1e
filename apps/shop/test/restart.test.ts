import { signCallback } from '@payment-service/core/testing';
import { createSandbox } from '@payment-service/sandbox';
import { expect, onTestFinished, test } from 'vitest';
import { Customer } from './support/customer.ts';
import { execute, genuine, newFile, post } from './support/open-shop.ts';
import { run } from './support/program.ts';

test('a restart keeps what was paid, and applies what was acknowledged before kill -9, once', async () => {
  const file = newFile();
  const sandbox = createSandbox();
  onTestFinished(() => sandbox.close());
  const { url: BASE_URL } = await sandbox.listen();
  const { publicKey, secretKey, signingKey } = sandbox.account;
  const keys = { PUBLIC_KEY: publicKey, SECRET_KEY: secretKey, SIGNING_KEY: signingKey };
  const start = async () => {
    const program = run('main.ts', ['--framework', 'fastify'], {
      NODE_ENV: 'development', // As the command of the sandbox sets it.
      BASE_URL,
      PORT: '0',
      INBOX_FILE: file,
      ...keys,
    });
    const [, origin = ''] = /runs on Fastify: (\S+)/.exec(await program.printed('Ctrl-C')) ?? [];
    const send = (reference: string, payload?: object): Promise<number> => {
      const data = genuine(reference, payload);
      return post(origin, data, signCallback({ signingKey, data }));
    };
    return { program, origin, send };
  };

  const first = await start();
  const before = new Customer(first);
  const { reference: paid } = await before.placeOrder();
  expect(await first.send(paid)).toBe(200);
  await expect.poll(() => before.orderPage(paid)).toContain('Paid. Thank you!');
  const { reference } = await before.placeOrder();
  execute(
    file,
    `create trigger broken before insert on shop_payment begin select raise(abort, 'broken'); end`,
  );
  const other = { internal_reference: 'INT-2' };
  expect(await first.send(reference, other)).toBe(200);
  first.program.process.kill('SIGKILL');
  expect(await first.program.ended).toMatchObject({ signal: 'SIGKILL' });

  // Repaired before the next start; until then nothing could have been applied.
  execute(file, 'drop trigger broken');
  const second = await start();
  const customer = new Customer(second);
  await expect.poll(() => customer.orderPage(reference)).toContain('Paid. Thank you!');
  expect(await customer.orderPage(paid)).toContain('Paid. Thank you!');
  expect(await second.send(reference, other)).toBe(200);
  const story = await customer.read(`/owner/inbox/payment?reference=${reference}`);
  expect(story).toContain('2 deliveries');
  second.program.process.kill('SIGHUP');
  expect((await second.program.ended).code).toBe(0);
});
