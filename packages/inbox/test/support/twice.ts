import type { AuthenticRefusal, VerifiedCallback } from '@payment-service/core';
import { expect } from 'vitest';
import type { Inbox } from '../../src/index.ts';
import { ACT_NAMES } from '../../src/operator/acts/action-log.ts';
import { evidence, paid } from './callbacks.ts';
import { formIn, formsIn, pageOf, type Visitor, visit } from './console.ts';
import type { AnyTransaction, EngineName } from './merchant.ts';
import { actOn, money, newShop, REPLACE, type Shop } from './shop.ts';
import { pause, startWork, workOff } from './until.ts';

/** One state of a payment, as an operator finds it. */
interface Case {
  /** What leads to it; workers run after each step. */
  readonly steps: readonly ((inbox: Inbox<AnyTransaction>, reference: string) => Promise<unknown>)[];
  /** The report that an act is about, if there are several. */
  readonly transition: (reference: string) => VerifiedCallback | AuthenticRefusal['evidence'];
}

const text = (body: string): string =>
  body.replaceAll(/"((?:request|transaction)_amount)":500/g, '"$1":"500"');
const asText = (reference: string) => paid(reference, 500, {}, { rewrite: text });
const second = (reference: string) => paid(reference, 500, { internal_reference: `OTHER-${reference}` });
const failed = (reference: string) => paid(reference, 500, { transaction_status: 'FAILED' });
const otherFailed = (reference: string) =>
  paid(reference, 500, { transaction_status: 'FAILED', internal_reference: `OTHER-${reference}` });
const late = (reference: string) => {
  const references = { merchant_reference: reference, internal_reference: `INT-${reference}` };
  return evidence('timestamp_out_of_tolerance', {
    ...references,
    request_amount: 500,
    transaction_amount: 500,
  });
};
const order = (inbox: Inbox<AnyTransaction>, reference: string): Promise<void> =>
  inbox.expect(money(reference));
const of = (make: (reference: string) => VerifiedCallback): Case['transition'] => make;
const keep =
  (...made: readonly ((reference: string) => VerifiedCallback)[]): Case['steps'][number] =>
  async (inbox, reference) => {
    for (const make of made) await inbox.route.onCallback(make(reference));
  };
const first = (reference: string) => paid(reference, 500);
const more = (reference: string) => paid(reference, 700);

const CASES: Readonly<Record<string, Case>> = {
  open: { steps: [order], transition: of(first) },
  unhandled: { steps: [keep(first)], transition: of(first) },
  mismatch: { steps: [order, keep(more)], transition: of(first) },
  text: { steps: [order, keep(asText)], transition: of(first) },
  late: {
    steps: [order, (inbox, reference) => inbox.route.onAuthenticRefusal(late(reference))],
    transition: (reference) => late(reference).evidence,
  },
  bodies: { steps: [keep(first, more)], transition: of(first) },
  contradicting: {
    steps: [order, (inbox, reference) => inbox.expect(money(reference, 700), REPLACE), keep(first, more)],
    transition: of(first),
  },
  twice: { steps: [order, keep(first), keep(second)], transition: of(second) },
  dead: { steps: [order, keep(first)], transition: of(first) },
  settled: { steps: [order, keep(first)], transition: of(first) },
  closed: {
    steps: [keep(first), (inbox, reference) => actOn(inbox, reference, 'close'), order],
    transition: of(first),
  },
  closedAgain: {
    steps: [
      order,
      keep(first),
      async (inbox, reference) => {
        await actOn(inbox, reference, 'applyAgain');
        await actOn(inbox, reference, 'close');
      },
    ],
    transition: of(first),
  },
  notAllowed: { steps: [order, keep(first), keep(failed)], transition: of(failed) },
  paidByAnother: { steps: [order, keep(first), keep(otherFailed)], transition: of(otherFailed) },
};

const DELAYS = [0, 20, 150, 1000];

/** A form of a state that is sent twice, after so many milliseconds, from one page or from two that were open before. */
interface Trial {
  readonly name: string;
  readonly form: string;
  readonly delayMs: number | undefined;
  readonly pages: 1 | 2;
  readonly reference: string;
}

/** Brings each of these references into its state. */
async function prepare({ inbox }: Shop, trials: readonly Pick<Trial, 'name' | 'reference'>[]): Promise<void> {
  for (let step = 0; step < 3; step += 1) {
    await Promise.all(trials.map(({ name, reference }) => CASES[name]?.steps[step]?.(inbox, reference)));
    await workOff(inbox);
  }
}

/** What a form of this page sends. */
function fieldsOf(html: string, { form, name, reference }: Trial): Record<string, string> {
  const { transition = of(first) } = CASES[name] ?? {};
  const { values, choices } = formIn(html, form);
  const act = choices.find((each) => each.includes(transition(reference).transitionId));
  // The amount that was not expected.
  const stated = { currency: 'UGX', amount: name === 'contradicting' ? '500' : '700' };
  return { ...values, note: 'asked', ...(act && { act }), ...(form === 'expect' && stated) };
}

async function sendTwice(visitor: Visitor, trial: Trial): Promise<number[]> {
  const path = pageOf(trial.reference);
  const opened = [(await visitor.get(path)).html];
  if (trial.pages === 2) opened.push((await visitor.get(path)).html);
  const send = async (html = opened[0] ?? ''): Promise<number> =>
    (await visitor.post(`/act/${trial.form}`, fieldsOf(html, trial))).status;
  if (trial.delayMs === undefined) return [await send()];
  const one = send();
  await pause(trial.delayMs);
  return Promise.all([one, send(opened.at(-1))]);
}

/**
 * Sends every form of every state twice, while workers run: the second one is refused, and money moves at most once.
 *
 * @param isWhole After each delay, from one page and from two, and compared with one click; otherwise each form takes one of
 * these, in turn.
 */
export async function clickTwice(engine: EngineName, isWhole: boolean): Promise<void> {
  let isBroken = true;
  const options = { retry: { attempts: 1 }, onError: () => undefined };
  const shop: Shop = await newShop(engine, options, async ({ tx, signed, payment: { settled } }) => {
    const { merchant_reference: reference } = signed;
    if (isBroken && reference.startsWith('dead')) throw new Error('broken');
    await shop.merchant.credit(tx, reference, settled?.amount ?? 'nothing');
  });
  const { inbox, merchant } = shop;
  inbox.handle('failed', ({ tx, signed }) => merchant.credit(tx, signed.merchant_reference, 'FAILED'));
  const visitor = visit(inbox);
  const probes = Object.keys(CASES).map((name) => ({ name, reference: name }));
  await prepare(shop, probes);
  const trials: Trial[] = [];
  for (const { name, reference } of probes) {
    for (const form of formsIn((await visitor.get(pageOf(reference))).html)) {
      const trial = (delayMs: number | undefined, pages: 1 | 2): void => {
        trials.push({ name, form, delayMs, pages, reference: `${name}.${form}.${delayMs}.${pages}` });
      };
      if (isWhole) trial(undefined, 1);
      const all = DELAYS.flatMap((delayMs) => ([1, 2] as const).map((pages) => [delayMs, pages] as const));
      const turn = trials.length % all.length;
      for (const [delayMs, pages] of isWhole ? all : all.slice(turn, turn + 1)) trial(delayMs, pages);
    }
  }
  // Control: every act is offered somewhere.
  expect(new Set(trials.map(({ form }) => form))).toEqual(new Set(ACT_NAMES));
  await prepare(shop, trials);
  isBroken = false;
  const stop = startWork(inbox);
  const statuses = await Promise.all(trials.map((trial) => sendTwice(visitor, trial)));
  await stop();
  await workOff(inbox);
  const credited = Map.groupBy(await merchant.credits(), (line) => line.split(' ')[0]);
  const creditsOf = (reference: string): number => credited.get(reference)?.length ?? 0;
  const seenActs = new Set<string>();
  for (const [index, { name, form, delayMs, pages, reference }] of trials.entries()) {
    if (isWhole) expect(creditsOf(reference), reference).toBe(creditsOf(`${name}.${form}.undefined.1`));
    // Only the named act credits again, and that once. A FAILED that is let through runs its own handler.
    const isSecond = form === 'applyAgain' || name === 'notAllowed' || name === 'paidByAnother';
    if (form !== 'forget') expect(creditsOf(reference), reference).toBeLessThanOrEqual(isSecond ? 2 : 1);
    if (creditsOf(reference) > creditsOf(name)) seenActs.add(form);
    if (delayMs === undefined) expect(statuses[index], reference).toEqual([303]);
    else {
      // To remove personal data again changes nothing.
      const refused = form === 'forget' ? 303 : 409;
      expect(statuses[index]?.toSorted(), `${reference} from ${pages}`).toEqual([303, refused]);
    }
  }
  // Control: these acts did credit, once.
  expect([...seenActs].toSorted()).toEqual(['accept', 'apply', 'applyAgain', 'expect', 'retry']);
}
