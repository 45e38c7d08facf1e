import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalAmount } from '@payment-service/core';
import { signCallback } from '@payment-service/core/testing';
import { createSandbox, type Sandbox } from '@payment-service/sandbox';
import { type RunningProgram, withRunningProgram } from '../programs/running-program.ts';
import { ACCOUNT, type Task } from './tasks.ts';

type Changes = Parameters<Sandbox['compose']>[1];

const FORGED_AMOUNT = 5_000_000;
const DEADLINE_MS = 10_000;
const POLL_MS = 50;
const ORDERS = { PAID: 500, FAILED: 700, FORGED: 900, LAST: 1100 } as const;

/**
 * The problems of a program that was written for a task: runs it with a sandbox for each account, the sandbox's check, a forged
 * amount and everything else that a merchant's endpoint receives, and compares what it credited.
 *
 * @param folder the folder of its server.mjs, in which the packages resolve.
 */
export async function taskProblems(task: Task, folder: string): Promise<readonly string[]> {
  const accounts = (task.accounts ?? [ACCOUNT]).map((account, index) => ({
    ...account,
    sandbox: createSandbox(),
    orders: Object.entries(ORDERS).map(([name, amount]) => ({
      merchant_reference: `ORD-${index + 1}-${name}`,
      currency: 'UGX',
      amount: String(amount),
    })),
  }));
  const orders = accounts.flatMap((account) => account.orders);
  writeFileSync(join(folder, 'orders.json'), JSON.stringify(orders));
  const keys = accounts.map(({ key, sandbox }) => [key, sandbox.account.signingKey] as const);
  const problems: string[] = [];
  try {
    await withRunningProgram(join(folder, 'server.mjs'), Object.fromEntries(keys), async (program) => {
      for (const { sandbox, path, orders: own } of accounts) {
        const sent = await sendTo(sandbox, program.url + path, own[0]?.merchant_reference.slice(0, -4) ?? '');
        problems.push(...sent);
        if (task.hasRedirect) problems.push(...(await redirectProblems(program, sandbox)));
      }
      const isDue = ({ merchant_reference }: { merchant_reference: string }): boolean =>
        /-(PAID|LAST)$/.test(merchant_reference);
      const expected = orders.filter(isDue).map(lineOf).sort();
      const last = expected.filter((line) => line.includes('-LAST '));
      const credited = await creditsOf(program, last);
      if (credited.join() !== expected.join())
        problems.push(`it credits ${credited.join(', ') || 'nothing'}, and not ${expected.join(', ')}`);
    });
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  } finally {
    for (const { sandbox } of accounts) await sandbox.close();
  }
  return problems;
}

/** Sends what must not be credited, then a payment twice, and finally another payment. */
async function sendTo(sandbox: Sandbox, url: string, prefix: string): Promise<readonly string[]> {
  const { results } = await sandbox.check(url);
  const failed = results.filter(({ verdict }) => verdict === 'fail');
  const start = (name: string, amount: number, outcome: 'completed' | 'failed' = 'completed'): number =>
    sandbox.collect({
      ...{ merchant_reference: prefix + name, amount, currency: 'UGX', outcome, callback_url: url },
      ...{ provider_code: 'example_mobile_money', account: '256772000001' },
      ...{ misbehave: { lost: true }, retry: { preset: 'none' } },
    }).transaction.id;
  const [paid, forged] = [start('PAID', ORDERS.PAID), start('FORGED', ORDERS.FORGED)];
  const messages: readonly (readonly [id: number, changes: Changes])[] = [
    [paid, { forged_amount: FORGED_AMOUNT }],
    [forged, { forged_currency: 'KES' }],
    [forged, { forged_amount: FORGED_AMOUNT }],
    [forged, { bad_signature: true }],
    [start('FAILED', ORDERS.FAILED, 'failed'), {}],
    [start('UNKNOWN', ORDERS.PAID), {}],
    [paid, {}],
    [paid, {}],
    [start('LAST', ORDERS.LAST), {}],
  ];
  for (const [id, changes] of messages) {
    sandbox.compose(id, changes);
    await sandbox.idle();
  }
  return failed.map(({ title, got, expected }) => `check: ${title}: ${got}, and not ${expected}`);
}

/** The redirect of an order whose callback never arrived shows WAITING and pays nothing; a forged one is refused. */
async function redirectProblems({ url }: RunningProgram, { account }: Sandbox): Promise<readonly string[]> {
  const visit = async (merchant_reference: string, signingKey: string): Promise<string> => {
    const payload = {
      ...{ merchant_reference, internal_reference: `R-${merchant_reference}` },
      ...{ transaction_type: 'COLLECTION', transaction_status: 'COMPLETED' },
    };
    const event = 'transaction.completed';
    const hmac_signature = signCallback({ signingKey, data: { event, payload } });
    const query = new URLSearchParams({ event, ...payload, hmac_signature });
    const response = await fetch(`${url}/payments/return?${query}`, { redirect: 'manual' });
    const word = /PAID|WAITING/.exec(await response.text())?.[0] ?? 'neither word';
    return `${response.status}${response.status === 200 ? ` ${word}` : ''}`;
  };
  const visits = [
    ['of a paid order', await visit('ORD-1-PAID', account.signingKey), '200 PAID'],
    ['before the callback', await visit('ORD-1-FORGED', account.signingKey), '200 WAITING'],
    ['with a forged signature', await visit('ORD-1-PAID', 'AnotherKey4Forgeries'), '401'],
  ];
  return visits
    .filter(([, seen, right]) => seen !== right)
    .map(([which, seen, right]) => `a redirect ${which} gets ${seen}, and not ${right}`);
}

/** What the program says it credited, once this includes the last payments. */
async function creditsOf({ url }: RunningProgram, last: readonly string[]): Promise<readonly string[]> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  for (;;) {
    const response = await fetch(`${url}/credits`);
    const credits = (await response.json()) as Parameters<typeof lineOf>[0][];
    const lines = credits.map(lineOf).sort();
    if (deadline.aborted || last.every((line) => lines.includes(line))) return lines;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function lineOf(credit: { merchant_reference: string; currency: string; amount: string }): string {
  return `${credit.merchant_reference} ${credit.currency} ${canonicalAmount(credit.amount)}`;
}
