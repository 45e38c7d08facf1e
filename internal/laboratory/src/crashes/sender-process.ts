/** The service: sends every callback again until it is acknowledged, and writes down that it was. Never killed. */
import { setTimeout as wait } from 'node:timers/promises';
import { Sender } from '../load/sender.ts';
import { answerQuestions } from '../measure/child.ts';
import { AcknowledgementRecord } from './acknowledgement-record.ts';
import { type Delivery, type Payment, paymentAt } from './payment-plan.ts';

export interface SenderSettings {
  readonly seed: number;
  readonly payments: number;
  readonly record: string;
  /** How many payments are under way at the same time. */
  readonly concurrency: number;
}

/** From the parent: who can be sent to, and up to which payment. */
export interface SenderOrders {
  readonly addresses: readonly string[];
  readonly limit: number;
}

/** What it returns to each order. */
export interface SenderProgress {
  readonly begun: number;
  readonly isDone: boolean;
  /** Requests that were not answered, or not with 200: the sender's view of the crashes. */
  readonly failures: number;
}

const sender = new Sender(() => orders.addresses, 5);
let orders: SenderOrders = { addresses: [], limit: 0 };
let begun = 0;
let isDone = false;

answerQuestions((question: SenderSettings | SenderOrders): SenderProgress => {
  if ('seed' in question) void sendAll(question);
  else orders = question;
  return { begun, isDone, failures: sender.failures };
});

async function sendAll(settings: SenderSettings): Promise<void> {
  const acknowledged = new AcknowledgementRecord(settings.record);
  const loops = Array.from({ length: settings.concurrency }, () => sendPayments(settings, acknowledged));
  await Promise.all(loops);
  acknowledged.close();
  sender.close();
  isDone = true;
}

async function sendPayments(
  { seed, payments }: SenderSettings,
  record: AcknowledgementRecord,
): Promise<void> {
  while (begun < payments) {
    if (begun >= orders.limit) {
      await wait(5);
      continue;
    }
    const index = begun;
    begun += 1;
    await sendPayment(paymentAt(seed, index), record);
    // The service may repeat anything at any time, long after it was acknowledged.
    if (index >= 100 && index % 20 === 0) await sendRounds(paymentAt(seed, index - 100), record);
  }
}

async function sendPayment(payment: Payment, record: AcknowledgementRecord): Promise<void> {
  const { expectation, reference: merchant_reference } = payment;
  const expect = async (): Promise<void> => {
    if (expectation === undefined) return;
    const { currency, amount } = expectation;
    await sender.untilAnswered('/expectations', 204, {
      body: JSON.stringify([{ merchant_reference, currency, amount }]),
    });
  };
  if (expectation?.isLate === false) await expect();
  await sendRounds(payment, record);
  if (expectation?.isLate === true) await expect();
}

async function sendRounds({ rounds }: Payment, record: AcknowledgementRecord): Promise<void> {
  for (const round of rounds) await Promise.all(round.map((one) => deliver(one, record)));
}

async function deliver(delivery: Delivery, record: AcknowledgementRecord): Promise<void> {
  await sender.untilAnswered('/callbacks', 200, delivery);
  record.add(delivery);
}
