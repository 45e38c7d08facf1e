import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test, vi } from 'vitest';
import { failureCode } from '../../src/reporting/events.ts';
import { failureStack, failureText } from '../../src/reporting/failure-text.ts';
import { paid } from '../support/callbacks.ts';
import { ENGINES, type EngineName } from '../support/merchant.ts';
import { MINUTE_MS, newDueShop } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const { transitionId } = paid('ORD-1', 500);
const SOON = { firstDelayMs: 60_000, longestDelayMs: 60_000 };

test('what onError receives is each error object that a handler threw, and whether it repeats the one before', async () => {
  const messages = 'AABBAA';
  const { merchant, inbox, workLater } = await newDueShop('sqlite', {
    retry: { ...SOON, attempts: messages.length },
  });
  const thrown: Error[] = [];
  inbox.handle('paid', ({ attempt }) => {
    thrown.push(new RangeError(messages[attempt - 1]));
    throw thrown.at(-1);
  });
  await workOff(inbox);
  for (let attempt = 2; attempt <= messages.length; attempt += 1) await workLater(2 * MINUTE_MS);
  const common = { kind: 'attempt_failed', transitionId };
  const retrying = { ...common, state: 'retrying', reason: undefined, delayMs: 60_000 };
  const dead = { ...common, state: 'dead', reason: 'attempts_used_up', delayMs: undefined };
  const isRepeated = [false, true, false, true, false, false];
  const told = (is: boolean, index: number) => ({
    attempt: index + 1,
    isRepeated: is,
    error: thrown[index],
  });
  expect(merchant.problems).toEqual(
    isRepeated.map(told).map((each) => ({ ...(each.attempt < 6 ? retrying : dead), ...each })),
  );
  for (const [index, { error }] of merchant.problems.entries()) expect(error).toBe(thrown[index]);
  const retries = merchant.events.filter(({ name }) => name === 'transition.retrying');
  const event = { transitionId, state: 'retrying', attempt: 1, delayMs: 60_000, failure: 'RangeError' };
  expect(retries[0]).toEqual({ name: 'transition.retrying', ...event });
  expect(retries).toHaveLength(5);
});

test('what onError receives is printed by default: the first failure, each new message and the last one, with the stack and the next step', async () => {
  const printed = await printedFor('AAABBB');
  expect(printed).toHaveLength(3);
  for (const [index, [attempt, letter]] of ['1A', '4B', '6B'].entries()) {
    expect(printed[index]).toContain(`attempt ${attempt} of transition ${transitionId} failed`);
    expect(printed[index]).toMatch(new RegExp(`TypeError: failure ${letter}\\n +at .*problems.test.ts`));
    expect(printed[index]).toContain('Caused by: Error: the ledger is closed');
  }
  expect(printed[0]).toContain(
    'failed. Its transaction was rolled back, and it runs again in 60 s. The same message is printed again only if the last attempt fails with it.\n',
  );
  expect(printed[2]).toContain(
    'It is dead: attempts_used_up, and waits for an operator. Fix the cause, then retry it.',
  );
  // The details that a library adds to its errors quote values.
  expect(printed.join()).not.toContain('ORD-1');
});

test.each(ENGINES)(
  'a message of %s, which quotes values, is not printed, but its code and the stack are',
  async (engine) => {
    const [printed] = await printedFor('D', engine);
    expect(printed).toMatch(
      engine === 'postgres' ? /error: 42601 \(its message/ : /Error: SQLITE_1 \(its message/,
    );
    expect(printed).toMatch(/only onError gets it\)\n +at /);
    expect(printed).not.toContain('CANARY');
  },
);

/** What an inbox without `onError` prints until its transition is dead; each letter says how an attempt fails. */
async function printedFor(failures: string, engine: EngineName = 'sqlite'): Promise<string[]> {
  const print = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => print.mockRestore());
  const retry = { ...SOON, attempts: failures.length };
  const { inbox, workLater } = await newDueShop(engine, { retry, onError: undefined });
  inbox.handle('paid', async ({ tx, attempt, signed }) => {
    const letter = failures[attempt - 1];
    if (letter === 'D') await tx.query("select 1 from 'CANARY' 'CANARY' 'CANARY'");
    const cause = new Error('the ledger is closed');
    throw Object.assign(new TypeError(`failure ${letter}`, { cause }), { detail: signed.merchant_reference });
  });
  for (const _ of failures) await workLater(2 * MINUTE_MS);
  return print.mock.calls.map(String);
}

const UNTOLD = ' (its message can quote values, so only onError gets it)';
const QUOTED = `Error: an error of the database or its library${UNTOLD}`;
const fail = (message: string, members: object = {}, cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), members);
const OF_LIBRARIES = 'severity errcode query sql params parameters criteria clientVersion'.split(' ');
const names = OF_LIBRARIES.map((name) => [fail('256700', { [name]: 'x' }), QUOTED] as const);
const classes = ['08', '23', '25', '28', '40', '42', '53', '54', '55', '57', '58'].map(
  (kind) => [fail('plain', { severity: 'ERROR', code: `${kind}00A` }), `Error: plain (${kind}00A)`] as const,
);
const prisma = {
  clientVersion: '7',
  code: 'P2002',
  meta: {
    ...{ modelName: 'Order', target: ['email', '"phone"', 'a b', 'x-y', 'x'.repeat(64), 'y'.repeat(63)] },
    driverAdapterError: {
      cause: { originalCode: '23505', constraint: { fields: ['paid'], index: 'one' } },
    },
  },
};
const locked = fail('database is locked', { errcode: 5 });
const deep = (links: number): Error =>
  links === 0 ? locked : fail('deep database is locked', {}, deep(links - 1));

test.each<readonly [unknown, string]>([
  ...names,
  ...classes,
  ['256700', "'256700'"],
  [{ phone: '256700' }, '[Object]'],
  [undefined, 'undefined'],
  [Object.create(null), '[Object: null prototype] {}'],
  [new RangeError('no order'), 'RangeError: no order'],
  [runInNewContext("new TypeError('elsewhere')"), 'TypeError: elsewhere'],
  [locked, 'Error: database is locked (SQLITE_5)'],
  [fail('near "256700"', { errcode: 1 }), `Error: SQLITE_1${UNTOLD}`],
  [fail("near '256700'", { errcode: 1 }), `Error: SQLITE_1${UNTOLD}`],
  [fail('near `256700`', { errcode: 1 }), `Error: SQLITE_1${UNTOLD}`],
  [fail('of a trigger', { errcode: 1811 }), `Error: SQLITE_1811${UNTOLD}`],
  [fail('syntax', { severity: 'ERROR', code: '42601' }), `Error: 42601${UNTOLD}`],
  [fail('256700', { severity: 'ERROR', code: '22P02' }), `Error: 22P02${UNTOLD}`],
  [fail('plain', { query: 'x', code: '23505' }), `Error: 23505${UNTOLD}`],
  [fail('plain', { query: 'x', code: 'ECONNRESET' }), QUOTED],
  ...[23505, '235055', '2350', '23 05'].map((code) => [fail('plain', { query: 'x', code }), QUOTED] as const),
  [fail('insert - 256700 - duplicate', { severity: 'ERROR', code: '23505' }), 'Error: duplicate (23505)'],
  [fail('256700', prisma), `Error: P2002 Order email phone ${'y'.repeat(63)} paid one 23505${UNTOLD}`],
  [fail('256700', { ...prisma, meta: undefined }), `Error: P2002${UNTOLD}`],
  [fail('no order', {}, locked), 'Error: no order'],
  [fail('failed: database is locked', {}, locked), 'Error: database is locked (SQLITE_5)'],
  [fail('outer', { sql: 'x' }, locked), 'Error: database is locked (SQLITE_5)'],
  [deep(4), 'Error: database is locked (SQLITE_5)'],
  [deep(5), 'Error: deep database is locked'],
])('what is stored and printed of an error has no value that it quotes: %#', (error, text) => {
  expect(failureText(error)).toBe(text);
});

test.each<readonly [unknown, string]>([
  ['no error', 'unknown'],
  [fail('x', { code: 'ECONNRESET' }), 'ECONNRESET'],
  [fail('x', { code: 'X'.repeat(40), errcode: '5' }), 'X'.repeat(40)],
  [fail('x', { code: 'ERR_SQLITE_ERROR', errcode: 5 }), 'SQLITE_5'],
  ...['X', 'X'.repeat(41), 'lower', 'A B', 'aAB', 'ABa', 7].map(
    (code) => [fail('x', { code }), 'Error'] as const,
  ),
])('what is stored and printed of an error has a code without values: %#', (error, code) => {
  expect(failureCode(error)).toBe(code);
});

test('what is stored and printed of an error has the stack and at most three causes', () => {
  const lines = failureStack(deep(4)).split('\n');
  expect(lines.filter((line) => /^\S/.test(line))).toEqual([
    'Error: database is locked (SQLITE_5)',
    ...Array(3).fill('Caused by: Error: database is locked (SQLITE_5)'),
  ]);
  expect(lines.filter((line) => line.startsWith('    at ')).length).toBeGreaterThan(3);
  expect(failureStack('no')).toBe("'no'");
  const own = new Error('no order');
  expect(failureStack(own)).toBe(own.stack);
  expect(failureStack(Object.assign(new Error('bare'), { stack: undefined }))).toBe('Error: bare');
});
