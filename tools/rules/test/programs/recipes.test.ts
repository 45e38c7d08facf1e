/**
 * The recipes of the guide, and the example that has everything, on PostgreSQL. guide.test.ts runs the recipes on SQLite and
 * compares what they print.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '@payment-service/servers/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../src/extracted.ts';
import { section } from '../../src/markdown.ts';
import { fileAt, root } from '../../src/repository.ts';
import { fullExampleProblems } from './full-example.ts';
import { onPostgres } from './on-postgres.ts';
import { runScript, type Script, scriptsIn } from './run-script.ts';

interface Recipe {
  readonly page: string;
  readonly heading?: string;
  /** What a careless merchant would write, and what that prints. */
  readonly careless: readonly [right: string, wrong: string, printed: RegExp];
}

const RECIPES: Readonly<Record<string, Recipe>> = {
  'a reversal that arrives first keeps its payment from being credited': {
    page: 'recipes',
    heading: '## Refunds and reversals',
    careless: [', REVERSED: []', '', /ORD-3 is credited with 500/],
  },
  'a FAILED of another transaction does not un-pay an order': {
    page: 'recipes',
    heading: '## Failed attempts',
    careless: [
      'const payer =',
      "inbox.handle(({ tx }) => tx.query('update orders set state = ?', ['failed']), { status: 'FAILED', paidByAnother: true });\nconst payer =",
      /has completed, and the order is paid\.\nAn attempt has failed, and the order is failed/,
    ],
  },
  'a part, too much and a forged amount are credited only as an operator accepts them': {
    page: 'recipes',
    heading: '## Another amount',
    careless: [' === paid', ' !== paid', /ORD-3 is credited with 5000000/],
  },
  'two accounts share a database, and neither takes what the other is sent': {
    page: 'recipes',
    heading: '## Several accounts',
    careless: ['{ store, account }', "{ store, account: '' }", /InvalidStateError/],
  },
  'a check of your own and the inbox are compared, and the inbox takes over': {
    page: 'moving',
    careless: ['  if (isShadow) return;\n', '', /the inbox 500\.\nORD-5 is credited/],
  },
  'a payment whose callback is lost is overdue, and settled by the statement': {
    page: 'missing-callbacks',
    careless: ['dryRun: false', 'dryRun: true', /^ORD-2 settled\nORD-1 - Not yet/m],
  },
  'totals and movements explain what the wallets have gained': {
    page: 'month-end',
    careless: [
      'amount: 300, charge',
      'amount: 200, charge',
      /With the transfer, everything is explained: false/,
    ],
  },
};

const folder = emptyFolder('recipes');
let server: PostgresServer;
let databases = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** The address of a new database. */
async function newDatabase(): Promise<string> {
  const client = new pg.Client(server.url);
  await client.connect();
  databases += 1;
  await client.query(`create database shop_${databases}`);
  await client.end();
  return server.url.replace(/[^/]*$/, `shop_${databases}`);
}

function scriptOf({ page, heading }: Recipe): Script {
  const { path, text } = fileAt(`docs/guide/${page}.md`);
  const [script, ...others] = scriptsIn({
    path,
    text: heading === undefined ? text : section(text, heading),
  });
  if (script === undefined || others.length > 0) throw new Error(`${path} has not one script there`);
  return script;
}

describe.each(Object.entries(RECIPES))('%s', (_title, recipe) => {
  const script = scriptOf(recipe);

  test('on PostgreSQL the recipe prints what the page shows', async () => {
    const DATABASE_URL = await newDatabase();
    expect(await runScript(onPostgres(script), folder, { DATABASE_URL })).toBe(script.printed);
  });

  test('control: without the line that it is about, the recipe prints something else', async () => {
    const [right, wrong, printed] = recipe.careless;
    expect(script.code.split(right)).toHaveLength(2);
    const careless = { ...script, code: script.code.replace(right, wrong) };
    expect(await runScript(careless, folder).catch(String)).toMatch(printed);
  });
});

test('control: a script that keeps its inbox elsewhere is not taken for one on PostgreSQL', () => {
  const script = { source: 'control.md:1', code: "createInbox({ store: sqlite('other.db') });" };
  expect(() => onPostgres(script)).toThrow('control.md:1: it does not keep its inbox in shop.db');
});

describe('apps/examples/postgres-inbox.ts', () => {
  const example = fileAt('apps/examples/postgres-inbox.ts');

  test('it settles a payment, and neither a forged amount nor a forged signature pays', async () => {
    expect(example.text.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
    expect(await fullExampleProblems(join(root, example.path), await newDatabase())).toEqual([]);
  });

  test('control: one that expects the forged amount, and has no login, is reported', async () => {
    const wrong = join(folder, 'wrong.ts');
    const text = example.text
      .replace('amount: price', "amount: '5000000'")
      .replace('sha256(given)', 'sha256(login)');
    writeFileSync(wrong, text);
    expect(await fullExampleProblems(wrong, await newDatabase())).toEqual([
      'the console has no login',
      'a forged amount pays the order',
    ]);
  });
});
