/** The service: sends every callback again until it is acknowledged, and writes down that it was. Never killed. */
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { AcknowledgementRecord } from './acknowledgement-record.ts';
import { type Delivery, type Payment, paymentAt } from './payment-plan.ts';
import { endWithParent, roleSettings, tellParent } from './role.ts';

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

/** To the parent, ten times a second and at the end. */
export interface SenderProgress {
  readonly begun: number;
  readonly isDone: boolean;
  /** Requests that were not answered, or not with 200: the sender's view of the crashes. */
  readonly failures: number;
}

/** A receiver that does not answer has been killed, or waits for a database that was. */
const ANSWER_MS = 10_000;

const { seed, payments, record, concurrency } = roleSettings<SenderSettings>();
endWithParent();
const acknowledged = new AcknowledgementRecord(record);
const agent = new Agent({ keepAlive: true });
let orders: SenderOrders = { addresses: [], limit: 0 };
let begun = 0;
let failures = 0;

process.on('message', (message: SenderOrders) => {
  orders = message;
});
const report = (isDone: boolean): void => tellParent({ begun, isDone, failures } satisfies SenderProgress);
const timer = setInterval(() => report(false), 100);
await Promise.all(Array.from({ length: concurrency }, sendPayments));
clearInterval(timer);
acknowledged.close();
report(true);
agent.destroy();

async function sendPayments(): Promise<void> {
  while (begun < payments) {
    if (begun >= orders.limit) {
      await wait(5);
      continue;
    }
    const index = begun;
    begun += 1;
    await sendPayment(paymentAt(seed, index));
    // The service may repeat anything at any time, long after it was acknowledged.
    if (index >= 100 && index % 20 === 0) await sendRounds(paymentAt(seed, index - 100));
  }
}

async function sendPayment(payment: Payment): Promise<void> {
  const { expectation, reference: merchant_reference } = payment;
  const expect = async (): Promise<void> => {
    if (expectation === undefined) return;
    const { currency, amount } = expectation;
    await untilAnswered('/expectations', 204, {
      body: JSON.stringify([{ merchant_reference, currency, amount }]),
    });
  };
  if (expectation?.isLate === false) await expect();
  await sendRounds(payment);
  if (expectation?.isLate === true) await expect();
}

async function sendRounds({ rounds }: Payment): Promise<void> {
  for (const round of rounds) await Promise.all(round.map(deliver));
}

async function deliver(delivery: Delivery): Promise<void> {
  await untilAnswered('/callbacks', 200, delivery);
  acknowledged.add(delivery);
}

async function untilAnswered(
  path: string,
  wanted: number,
  message: { readonly body: string; readonly signature?: string },
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const { addresses } = orders;
    const address = addresses[Math.floor(Math.random() * addresses.length)];
    if (address !== undefined && (await post(address + path, message)) === wanted) return;
    failures += 1;
    await wait(Math.min(5 * 2 ** attempt, 100) * (0.5 + Math.random()));
  }
}

/** @returns the status; undefined when no whole answer came. */
function post(
  url: string,
  { body, signature }: { readonly body: string; readonly signature?: string },
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(signature === undefined ? {} : { 'hmac-signature': signature }),
    };
    const sent = request(url, { method: 'POST', agent, headers, timeout: ANSWER_MS }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.complete ? response.statusCode : undefined));
      response.on('error', () => resolve(undefined));
      response.on('close', () => resolve(undefined));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(undefined));
    sent.end(body);
  });
}
