/** The judge of `pnpm tasks`: right programs pass, and each wrong one fails for what is wrong with it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sideBySide } from '@payment-service/toolchains';
import { beforeAll, describe, expect, test } from 'vitest';
import { emptyFolder } from '../src/extracted.ts';
import { taskProblems } from '../src/tasks/judge.ts';
import { TASKS, type Task } from '../src/tasks/tasks.ts';

const task = (name: string): Task => TASKS.find((one) => one.name === name) ?? expect.unreachable();
const [EXPRESS, REDIRECT, ROTATION, INBOX] = [
  task('express'),
  task('redirect'),
  task('rotation'),
  task('inbox'),
];

const RIGHT = `
import { readFileSync } from 'node:fs';
import { AmountMismatchError, assertAmount, confirmAmount, isTransactionCompleted, paymentCallbacks, paymentRedirects } from '@payment-service/express';
import express from 'express';
const orders = new Map(JSON.parse(readFileSync('orders.json', 'utf8')).map((order) => [order.merchant_reference, order]));
const credits = new Map();
const signingKey = process.env.SIGNING_KEY;
const isPaid = (reference) => [...credits.values()].some(({ merchant_reference }) => merchant_reference === reference);
function credit(callback) {
  const { merchant_reference } = callback.signed;
  const order = orders.get(merchant_reference);
  if (order === undefined || !isTransactionCompleted(callback)) return;
  try {
    const { currency, amount } = assertAmount(callback, { currency: order.currency, amount: order.amount });
    credits.set(callback.transitionId, { merchant_reference, currency, amount });
  } catch (error) {
    if (!(error instanceof AmountMismatchError)) throw error;
  }
}
const app = express();
app.use('/payments/callbacks', paymentCallbacks({ signingKey, onCallback: credit }));
app.get('/payments/return', paymentRedirects({ signingKey }), ({ paymentRedirect }, response) => {
  response.send(isPaid(paymentRedirect.signed.merchant_reference) ? 'PAID' : 'WAITING');
});
app.get('/credits', (_request, response) => response.json([...credits.values()]));
const server = app.listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => server.close());
`;

const ON_INBOX = `
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { paymentCallbacks } from '@payment-service/express';
import { createInbox, sqlite } from '@payment-service/inbox';
import express from 'express';
const inbox = createInbox({ store: sqlite('shop.db') });
await inbox.transaction((tx) => tx.query('create table if not exists credit (merchant_reference, currency, amount)'));
for (const { merchant_reference, currency, amount } of JSON.parse(readFileSync('orders.json', 'utf8')))
  await inbox.expect({ merchant_reference, currency, amount });
inbox.handle(async ({ tx, signed, settled }) => {
  await tx.query('insert into credit values (?, ?, ?)', [signed.merchant_reference, settled.currency, settled.amount]);
});
const { receive: onCallback, quarantine: onAuthenticRefusal } = inbox;
const app = express();
app.use('/payments/callbacks', paymentCallbacks({ signingKey: process.env.SIGNING_KEY, onCallback, onAuthenticRefusal }));
const shop = new DatabaseSync('shop.db');
app.get('/credits', (_request, response) => response.json(shop.prepare('select * from credit').all()));
const server = app.listen(Number(process.env.PORT), '127.0.0.1');
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
await inbox.work({ signal: stop.signal });
server.close();
shop.close();
await inbox.close();
`;

const ASSERTED = 'assertAmount(callback, { currency: order.currency, amount: order.amount })';
const COMPLETED = ' || !isTransactionCompleted(callback)';
const REFERENCE = 'paymentRedirect.signed.merchant_reference';

/** The right program with parts replaced, and what the judge must say about it. */
interface Wrong {
  readonly name: string;
  readonly of?: Task;
  readonly parts: readonly (readonly [part: string, by: string])[];
  readonly says: RegExp;
}

const WRONG: readonly Wrong[] = [
  {
    name: 'credits the amount that the callback claims',
    parts: [[ASSERTED, '{ currency: "UGX", amount: String(callback.unsigned.transaction_amount) }']],
    says: /^it credits .*ORD-1-FORGED UGX 5000000/,
  },
  {
    name: 'takes the result of confirmAmount() for a yes',
    parts: [
      [ASSERTED, 'confirmAmount(callback, { currency: order.currency, amount: order.amount }) && order'],
    ],
    says: /^it credits .*ORD-1-FORGED UGX 900/,
  },
  {
    name: 'credits a failed payment',
    parts: [
      [ASSERTED, 'order'],
      [COMPLETED, ''],
    ],
    says: /^it credits .*ORD-1-FAILED UGX 700/,
  },
  {
    name: 'credits a repetition again',
    parts: [['credits.set(callback.transitionId', 'credits.set(Symbol()']],
    says: /^it credits .*ORD-1-PAID UGX 500,.*ORD-1-PAID UGX 500,/,
  },
  {
    name: 'credits from a redirect',
    of: REDIRECT,
    parts: [[`isPaid(${REFERENCE})`, `credits.set(Symbol(), orders.get(${REFERENCE}))`]],
    says: /^a redirect before the callback gets 200 PAID, and not 200 WAITING/,
  },
  { name: 'forgets the old key', of: ROTATION, parts: [], says: /^check: .*401, and not 2xx/ },
  { name: 'does not start', parts: [['app.listen(', 'app.listne(']], says: /^it ended with 1 and printed: / },
];

const programs = [
  { name: 'right, with a redirect', of: REDIRECT, text: RIGHT },
  {
    name: 'right, with two keys',
    of: ROTATION,
    text: RIGHT.replace(
      'process.env.SIGNING_KEY',
      "[{ id: 'new', key: process.env.SIGNING_KEY }, { id: 'old', key: process.env.OLD_SIGNING_KEY, notAfter: new Date(Date.now() + 3_600_000) }]",
    ),
  },
  { name: 'right, with the inbox', of: INBOX, text: ON_INBOX },
  ...WRONG.map(({ name, of = EXPRESS, parts }) => ({
    name,
    of,
    text: parts.reduce((text, [part, by]) => {
      expect(text).toContain(part);
      return text.replace(part, () => by);
    }, RIGHT),
  })),
];
const found = new Map<string, readonly string[]>();
/** They mostly wait for each other's processes. */
const AT_A_TIME = 4;

beforeAll(async () => {
  const folder = emptyFolder('tasks');
  await sideBySide(programs, AT_A_TIME, async ({ name, of, text }) => {
    const home = join(folder, name.replaceAll(/\W+/g, '-'));
    mkdirSync(home);
    writeFileSync(join(home, 'server.mjs'), text);
    found.set(name, await taskProblems(of, home));
  });
}, 300_000);

test('there are ten tasks, each with its own name', () => {
  expect(new Set(TASKS.map(({ name }) => name)).size).toBe(10);
});

test.each(programs.slice(0, -WRONG.length))('a program that is $name passes', ({ name }) => {
  expect(found.get(name)).toEqual([]);
});

describe('controls', () => {
  test.each(WRONG)('a program that $name fails, and the judge says why', ({ name, says }) => {
    expect(found.get(name)).toContainEqual(expect.stringMatching(says));
  });
});
