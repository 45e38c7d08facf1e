import { describe, expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { type AnyTransaction, ENGINES, newMerchant } from '../support/merchant.ts';
import { MINUTE_MS, newDueShop, order } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const { transitionId } = paid('ORD-1', 500);
const SOON = { firstDelayMs: 60_000, longestDelayMs: 60_000 };

describe.each(ENGINES)('what onError receives on %s', (engine) => {
  test('is each error object that a handler threw, and whether it repeats the one before', async () => {
    const messages = 'AABBAA';
    const { merchant, inbox, workLater } = await newDueShop(engine, {
      retry: { ...SOON, attempts: messages.length },
    });
    const thrown: Error[] = [];
    inbox.handle(({ attempt }) => {
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

  test.each(['throws', 'rejects'])('changes nothing when the hook %s', async (how) => {
    const seen: unknown[] = [];
    const onError = (error: unknown): unknown => {
      seen.push(error);
      if (how === 'rejects') return Promise.reject(new Error('the tracker is unavailable'));
      throw new Error('the tracker is unavailable');
    };
    const { merchant, inbox, workLater } = await newDueShop(engine, { retry: SOON, onError });
    inbox.handle(async ({ tx, attempt }) => {
      await merchant.credit(tx, 'ORD-1', '500');
      if (attempt === 1) throw new Error('not yet');
    });
    await workOff(inbox);
    await workLater(2 * MINUTE_MS);
    expect(seen).toMatchObject([{ message: 'not yet' }]);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
  });

  test('is printed by default: the first failure, each new message and the last one, with the stack and the next step', async () => {
    const output = await outputOf(engine, 'AAABBB');
    const printed = [...output.matchAll(/attempt (\d) of transition (\w+) failed/g)];
    expect(printed.map(([, attempt, id]) => `${attempt} ${id === transitionId}`)).toEqual([
      '1 true',
      '4 true',
      '6 true',
    ]);
    const stacks = output.match(/TypeError: failure [AB]\n +at .*failing-worker\.ts/g);
    expect(stacks?.map((stack) => stack.slice(0, 20))).toEqual([
      'TypeError: failure A',
      'TypeError: failure B',
      'TypeError: failure B',
    ]);
    expect(output.match(/Caused by: Error: the ledger is closed/g)).toHaveLength(3);
    expect(output).toContain('it runs again in 1 s');
    expect(output).toContain(
      'It is dead: attempts_used_up, and waits for a person. Fix the cause, then call retry().',
    );
    // What a library adds to its errors quotes values.
    expect(output).not.toContain('ORD-1');
  });

  test('is printed without the message of a database, which quotes values, and with its code and the stack', async () => {
    const output = await outputOf(engine, 'D');
    expect(output).toMatch(
      engine === 'postgres' ? /error: 42601 \(its message/ : /Error: SQLITE_1 \(its message/,
    );
    expect(output).toMatch(/only onError gets it\)\n +at /);
    expect(output).not.toContain('CANARY');
  });

  test('is printed once for a handler that ended its transaction, with the error that it threw', async () => {
    const output = await outputOf(engine, 'CCC');
    expect(output.match(/attempt \d of transition/g)).toEqual(['attempt 1 of transition']);
    expect(output).toContain('It is dead: transaction_ended, and waits for a person');
    expect(output).toMatch(/Caused by: TypeError: failure C\n +at .*failing-worker\.ts/);
  });
});

/** What a program without `onError` printed until its transition was dead. */
async function outputOf(engine: (typeof ENGINES)[number], failures: string): Promise<string> {
  const merchant = await newMerchant(engine);
  const inbox = merchant.open();
  await order<AnyTransaction>(inbox, 'ORD-1');
  const [name = '', address = '', schema = '-'] = merchant.programArguments;
  const { ended } = startChild('failing-worker.ts', [name, address, schema, failures]);
  const { code, output } = await ended;
  expect(code).toBe(0);
  return output;
}
