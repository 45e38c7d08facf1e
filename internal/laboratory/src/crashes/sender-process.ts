/** The service: sends every callback again until it is acknowledged, and writes down each answer. Never killed. */
import { setTimeout as wait } from 'node:timers/promises';
import { paymentAt } from '../history/payment-plan.ts';
import { HistoryRecord } from '../history/record.ts';
import { type Sending, sendPayment, sendRounds } from '../history/send-payment.ts';
import { Sender } from '../load/sender.ts';
import { answerQuestions } from '../measure/child.ts';

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
}

const sender = new Sender(() => orders.addresses, 5);
let orders: SenderOrders = { addresses: [], limit: 0 };
let begun = 0;
let isDone = false;

answerQuestions((question: SenderSettings | SenderOrders): SenderProgress => {
  if ('seed' in question) void sendAll(question);
  else orders = question;
  return { begun, isDone };
});

async function sendAll(settings: SenderSettings): Promise<void> {
  const record = new HistoryRecord(settings.record);
  const sending = { sender, record };
  await Promise.all(Array.from({ length: settings.concurrency }, () => sendPayments(settings, sending)));
  record.close();
  sender.close();
  isDone = true;
}

async function sendPayments({ seed, payments }: SenderSettings, sending: Sending): Promise<void> {
  while (begun < payments) {
    if (begun >= orders.limit) {
      await wait(5);
      continue;
    }
    const index = begun;
    begun += 1;
    await sendPayment(paymentAt(seed, index), sending);
    // The service may repeat anything at any time, long after it was acknowledged.
    if (index >= 100 && index % 20 === 0) await sendRounds(paymentAt(seed, index - 100), sending);
  }
}
