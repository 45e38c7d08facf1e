import { createSandbox } from '@payment-service/sandbox';
import { startPostgres } from '@payment-service/servers/postgres';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Customer } from './support/customer.ts';
import { execute, newKeeping } from './support/new-keeping.ts';
import { ENGINES, openOrder, sendGenuine } from './support/open-shop.ts';
import { type Program, run } from './support/program.ts';

const BREAK = {
  sqlite: `create trigger broken before insert on shop_payment begin select raise(abort, 'broken'); end`,
  postgres: `create function broken() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
    create trigger broken before insert on shop_payment for each row execute function broken()`,
} as const;
const REPAIR = { sqlite: 'drop trigger broken', postgres: 'drop trigger broken on shop_payment' } as const;

describe.each(ENGINES)('a restart on $framework and $engine', ({ framework, engine }) => {
  test('keeps what was paid, and applies what was acknowledged before kill -9, once', async () => {
    const keeping = await newKeeping(engine);
    const sandbox = createSandbox();
    onTestFinished(() => sandbox.close());
    const { url } = await sandbox.listen();
    const { publicKey, secretKey, signingKey } = sandbox.account;
    const start = async (): Promise<{ program: Program; origin: string }> => {
      const program = run('main.ts', ['--framework', framework], {
        BASE_URL: url,
        PUBLIC_KEY: publicKey,
        SECRET_KEY: secretKey,
        SIGNING_KEY: signingKey,
        PORT: '0',
        ...('file' in keeping ? { INBOX_FILE: keeping.file } : { DATABASE_URL: keeping.databaseUrl }),
      });
      const [, origin = ''] = /runs on \w+: (\S+)/.exec(await program.printed('Ctrl-C')) ?? [];
      return { program, origin };
    };

    const first = await start();
    const before = new Customer(first);
    const { reference: paid } = await before.placeOrder();
    expect(await sendGenuine(first.origin, signingKey, paid)).toBe(200);
    await expect.poll(() => before.orderPage(paid)).toContain('Paid. Thank you!');
    const { reference } = await before.placeOrder();
    await execute(keeping, BREAK[engine]);
    const other = { internal_reference: 'INT-2' };
    expect(await sendGenuine(first.origin, signingKey, reference, other)).toBe(200);
    first.program.process.kill('SIGKILL');
    expect(await first.program.ended).toMatchObject({ signal: 'SIGKILL' });

    // Repaired before the next start; until then nothing could have been applied.
    await execute(keeping, REPAIR[engine]);
    const second = await start();
    const customer = new Customer(second);
    await expect.poll(() => customer.orderPage(reference)).toContain('Paid. Thank you!');
    expect(await customer.orderPage(paid)).toContain('Paid. Thank you!');
    expect(await sendGenuine(second.origin, signingKey, reference, other)).toBe(200);
    expect(await customer.read('/owner/inbox/transitions?state=settled')).toContain('2 deliveries');
    second.program.process.kill('SIGINT');
    expect((await second.program.ended).code).toBe(0);
  });
});

test('a database server that crashes and restarts costs no callback: the answer is 429 until then, and the order is paid afterwards', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const keeping = { databaseUrl: server.url };
  const { shop, reference } = await openOrder({ framework: 'koa', keeping });
  const health = async (): Promise<unknown> => {
    const response = await fetch(`${shop.origin}/healthz`);
    return [response.status, Object(await response.json()).problems];
  };
  expect(await health()).toEqual([200, []]);

  await server.kill('everything');
  expect(await shop.sendCallback(reference)).toBe(429);
  expect(await health()).toEqual([503, ['store_unavailable']]);
  expect((await new Customer(shop).get(`/orders/${reference}`)).status).toBe(500);

  await server.restart();
  await expect.poll(() => shop.sendCallback(reference)).toBe(200);
  await expect.poll(() => shop.stateOf(reference)).toBe('paid');
  expect(await health()).toEqual([200, []]);
  await shop.close();
});
