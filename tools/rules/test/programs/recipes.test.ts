/** The recipes of the guide, and the example that has everything, on PostgreSQL. guide.test.ts runs the recipes on SQLite. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox } from '@payment-service/sandbox';
import { type PostgresServer, startPostgres } from '@payment-service/servers/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { emptyFolder } from '../../src/extracted.ts';
import { filesMatching, root } from '../../src/repository.ts';
import { runScript, scriptsIn } from './run-script.ts';
import { withRunningProgram } from './running-program.ts';

const IMPORT = /^import \{ createInbox, sqlite \} from '@payment-service\/inbox';$/m;
const POOL = `import { createInbox, postgres } from '@payment-service/inbox';
import pg from 'pg';
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 5 });`;
const SQL = /(?<=(['`]))(?:create|insert|update|select|delete) (?:(?!\1).)*(?=\1)/gs;

let server: PostgresServer;
let databases = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** The address of a new database. */
async function newDatabase(): Promise<string> {
  databases += 1;
  const name = `shop_${databases}`;
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return server.url.replace(/[^/]*$/, name);
}

/** `$1`, `$2` in place of `?`. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => `$${++count}`);
}

const folder = emptyFolder('recipes');
const recipes = filesMatching('docs/guide/*.md')
  .flatMap(scriptsIn)
  .filter(({ code }) => IMPORT.test(code) && code.includes("sqlite('shop.db')"));

test('the guide has recipes that keep their inbox in a file', () => {
  expect(recipes.length).toBeGreaterThanOrEqual(7);
});

// PostgreSQL's workers settle several callbacks at a time, so the order of their lines is open here.
const inOrder = (text: string): readonly string[] => text.split('\n').sort();
test.each(recipes.map((recipe) => [recipe.source, recipe] as const))(
  'on PostgreSQL the recipe at %s prints the lines that the page shows',
  async (_source, recipe) => {
    const changed = recipe.code.replace(IMPORT, POOL).replace("sqlite('shop.db')", 'postgres(pool)');
    const code = `${changed.replace(SQL, numbered)}await pool.end();\n`;
    const DATABASE_URL = await newDatabase();
    const printed = await runScript({ ...recipe, code }, folder, { DATABASE_URL });
    expect(inOrder(printed)).toEqual(inOrder(recipe.printed));
  },
);

test('apps/examples/postgres-inbox.ts settles a payment, and neither a forged amount nor a forged signature pays', async () => {
  const sandbox = createSandbox();
  const cwd = mkdtempSync(join(tmpdir(), 'full-example-')); // A folder for its spool.
  onTestFinished(async () => {
    await sandbox.close();
    rmSync(cwd, { recursive: true, maxRetries: 20 });
  });
  const ADMIN_PASSWORD = 'correct horse battery';
  const authorization = `Basic ${Buffer.from(`admin:${ADMIN_PASSWORD}`).toString('base64')}`;
  const SIGNING_KEY = sandbox.account.signingKey;
  const own = { DATABASE_URL: await newDatabase(), SIGNING_KEY, ADMIN_PASSWORD };
  const env = { ...own, NODE_ENV: 'development' };
  const file = join(root, 'apps/examples/postgres-inbox.ts');
  const { exitCode } = await withRunningProgram(
    file,
    env,
    async ({ url, hasPrinted }) => {
      const read = async (path: string, headers: Record<string, string> = {}): Promise<string> =>
        (await fetch(url + path, { headers })).text();
      const placed = await (await fetch(`${url}/orders`, { method: 'POST' })).json();
      const { reference } = placed as { reference: string };
      const order = `/orders/${encodeURIComponent(reference)}`;
      const story = `/admin/payments/payment?reference=${encodeURIComponent(reference)}`;
      expect((await fetch(url + story)).status).toBe(401);
      const { transaction } = sandbox.collect({
        ...{ merchant_reference: reference, amount: 500, currency: 'UGX' },
        ...{ provider_code: 'example_mobile_money', account: '256772000001' },
        ...{ callback_url: `${url}/payments/callbacks`, retry: { preset: 'none' } },
        misbehave: { lost: true },
      });
      const send = async (changes: Parameters<typeof sandbox.compose>[1]): Promise<number | null> => {
        const [delivery] = sandbox.compose(transaction.id, changes);
        await sandbox.idle();
        return sandbox.deliveries().find(({ id }) => id === delivery?.id)?.attempts[0]?.status ?? null;
      };
      expect(await send({ bad_signature: true })).toBe(401);
      expect(await send({ forged_amount: 5_000_000 })).toBe(200);
      const console = (): Promise<string> => read(story, { authorization });
      await expect
        .poll(console, { timeout: 25_000 })
        .toContain('We are checking your payment. Please do not pay again.');
      expect(await read(order)).toContain('We are checking your payment');
      expect(await send({})).toBe(200);
      await hasPrinted(`${reference} is paid: 500 UGX`);
      // The handler prints this before its transaction is committed.
      await expect
        .poll(() => read(order), { timeout: 25_000 })
        .toContain('Your payment of UGX 500 has arrived.');
    },
    { cwd },
  );
  // Windows has no SIGTERM: there a process ends without notice.
  expect(process.platform === 'win32' || exitCode).toBe(process.platform === 'win32' || 0);
});
