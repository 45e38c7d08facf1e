import type { Sender } from '../load/sender.ts';
import type { Answer } from './judge-history.ts';
import type { Delivery, Payment } from './payment-plan.ts';
import type { HistoryRecord } from './record.ts';

/** Where the service and the shop send, and who writes down what was answered. */
export interface Sending {
  readonly sender: Sender;
  readonly record: HistoryRecord;
}

/** Everything about one payment, each request until it has its answer. */
export async function sendPayment(payment: Payment, sending: Sending): Promise<void> {
  const isLate = payment.expectation?.isLate ?? false;
  if (!isLate) await expectPayment(payment, sending);
  await sendRounds(payment, sending);
  if (isLate) await expectPayment(payment, sending);
}

/** Its callbacks alone: the service may repeat anything at any time, long after it was acknowledged. */
export async function sendRounds({ kind, rounds }: Payment, sending: Sending): Promise<void> {
  const wanted = kind === 'refused' ? 401 : 200;
  for (const round of rounds) await Promise.all(round.map((one) => deliver(one, wanted, sending)));
}

async function expectPayment(
  { expectation, reference }: Payment,
  { sender, record }: Sending,
): Promise<void> {
  if (expectation === undefined) return;
  const { currency, amount } = expectation;
  const facts = { kind: 'expectation', payment: reference, money: `${currency} ${amount}` } as const;
  const body = JSON.stringify([{ merchant_reference: reference, currency, amount }]);
  await sender.untilAnswered('/expectations', 204, { body }, ({ status, began, ended }) =>
    record.add({ ...facts, began, ended, answer: status === 204 ? 'acknowledged' : 'none' }),
  );
}

async function deliver(delivery: Delivery, wanted: number, { sender, record }: Sending): Promise<void> {
  await sender.untilAnswered('/callbacks', wanted, delivery, ({ status, outcome, began, ended }) =>
    record.add({ kind: 'callback', ...delivery.facts, began, ended, answer: answerOf(status, outcome) }),
  );
}

/** @param outcome how the inbox kept it, which its events tell; undefined for a callback in the spool. */
function answerOf(status: number | undefined, outcome: string | undefined): Answer {
  if (status === 401) return 'refused';
  if (status !== 200) return 'none';
  if (outcome === undefined) return 'acknowledged';
  return outcome === 'known' ? 'repetition' : 'first';
}
