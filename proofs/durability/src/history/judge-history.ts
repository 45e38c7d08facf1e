/**
 * A model of what a payment system promises. It knows nothing of the inbox and imports nothing: it reads the requests,
 * responses and effects, each with its times on one clock, and names what no correct system could have left behind.
 */

/** One request and its response. Times are in milliseconds, on one clock for all processes of a run. */
export interface Request {
  readonly kind: 'expectation' | 'callback';
  /** The merchant_reference. */
  readonly payment: string;
  /** Currency and amount, as expected or as claimed by the body. */
  readonly money: string;
  /** For a callback: the internal_reference, one of its transitions, the status, and what was sent, byte for byte. */
  readonly subject?: string;
  readonly transition?: string;
  readonly status?: string;
  readonly body?: string;
  readonly began: number;
  readonly ended: number;
  readonly answer: Answer;
}

/**
 * - `acknowledged`: accepted, without saying whether it was known;
 * - `first`, `repetition`: accepted, and whether the body was known;
 * - `refused`: must never have an effect;
 * - `none`: no response, or one that promises nothing. The request can take effect at any later time, or never.
 */
export type Answer = 'acknowledged' | 'first' | 'repetition' | 'refused' | 'none';

/** The effect of a handler, and when it ran: a time before its commit. */
export interface Effect {
  readonly payment: string;
  readonly subject: string;
  readonly transition: string;
  readonly status: string;
  /** What was credited; empty if the status settles nothing. */
  readonly money: string;
  readonly began: number;
  readonly ended: number;
}

export interface History {
  readonly requests: Iterable<Request>;
  readonly effects: Iterable<Effect>;
  /** Every body that the system has stored at the end. */
  readonly kept: ReadonlySet<string>;
}

/** The only status that pays; nothing may follow it. */
const PAID = 'COMPLETED';

export const FAULTS = {
  lost: 'acknowledged and not applied',
  doubled: 'applied twice',
  unasked: 'effects of what was never sent, or was refused',
  forged: 'effects with an amount that was not both expected and sent',
  early: 'effects that began before their request',
  disordered: 'effects out of order within an internal_reference',
  misanswered: 'bodies whose repetitions were not answered as such',
  dropped: 'acknowledged bodies that are not kept',
  invented: 'bodies that are kept and were never accepted',
} as const;
export type Fault = keyof typeof FAULTS;

export interface Verdict {
  /** For each fault, the affected payments, transitions, subjects or bodies. */
  readonly faults: Readonly<Record<Fault, readonly string[]>>;
  readonly requests: number;
  /** Requests without a response that promises something. */
  readonly unanswered: number;
  /** Distinct bodies that were acknowledged. */
  readonly bodies: number;
  /** Payments that are expected and paid as expected, both acknowledged; and those of them with one effect. */
  readonly due: number;
  readonly appliedOnce: number;
}

export function judgeHistory({ requests, effects, kept }: History): Verdict {
  const none = Object.keys(FAULTS).map((fault): [string, string[]] => [fault, []]);
  const faults = Object.fromEntries(none) as Record<Fault, string[]>;
  const sent = [...requests];
  const done = [...effects];
  const sentFor = Map.groupBy(sent, ({ payment }) => payment);
  const doneFor = Map.groupBy(done, ({ payment }) => payment);
  const bodies = Map.groupBy(
    sent.filter(({ kind }) => kind === 'callback'),
    ({ body }) => body ?? '',
  );

  let [due, appliedOnce, acknowledgedBodies] = [0, 0, 0];
  for (const [payment, own] of sentFor) {
    if (!isDue(own)) continue;
    const times = doneFor.get(payment)?.filter(({ status }) => status === PAID).length ?? 0;
    due += 1;
    if (times === 0) faults.lost.push(payment);
    if (times === 1) appliedOnce += 1;
  }
  for (const [payment, own] of doneFor) {
    const paid = own.filter(({ status }) => status === PAID).length;
    const distinct = new Set(own.map(({ transition }) => transition)).size;
    if (paid > 1 || distinct < own.length) faults.doubled.push(payment);
  }
  for (const effect of done) {
    const fault = faultOf(effect, sentFor.get(effect.payment) ?? []);
    if (fault !== undefined) faults[fault].push(effect.transition);
  }
  for (const [subject, own] of Map.groupBy(done, (effect) => effect.subject))
    if (!isInOrder(own)) faults.disordered.push(subject);
  for (const [body, own] of bodies) {
    if (!answersFit(own)) faults.misanswered.push(body);
    if (!own.some(isAcknowledged)) continue;
    acknowledgedBodies += 1;
    if (!kept.has(body)) faults.dropped.push(body);
  }
  for (const body of kept)
    if (bodies.get(body)?.some(({ answer }) => answer !== 'refused') !== true) faults.invented.push(body);

  return {
    faults,
    requests: sent.length,
    unanswered: sent.filter(({ answer }) => answer === 'none').length,
    bodies: acknowledgedBodies,
    due,
    appliedOnce,
  };
}

/** The system has promised to apply a payment if the expectation and the callback that pays it were both acknowledged. */
function isDue(sent: readonly Request[]): boolean {
  const promised = sent.filter(isAcknowledged);
  return promised.some(
    ({ kind, status, money }) =>
      kind === 'callback' && status === PAID && promised.some((one) => isExpectation(one, money)),
  );
}

/** What is wrong with a single effect: everything that it is based on must have been sent before it began. */
function faultOf(effect: Effect, all: readonly Request[]): 'unasked' | 'forged' | 'early' | undefined {
  const sent = all.filter(({ answer }) => answer !== 'refused');
  const calls = sent.filter(
    ({ transition, status, subject }) =>
      transition === effect.transition && status === effect.status && subject === effect.subject,
  );
  const isPaid = effect.status === PAID;
  const grounds = isPaid ? [calls, sent.filter(({ kind }) => kind === 'expectation')] : [calls];
  if (grounds.some((ground) => ground.length === 0)) return 'unasked';
  const exact = isPaid
    ? grounds.map((ground) => ground.filter(({ money }) => money === effect.money))
    : grounds;
  if (exact.some((ground) => ground.length === 0)) return 'forged';
  const isEarly = exact.some((ground) => ground.every(({ began }) => began > effect.began));
  return isEarly ? 'early' : undefined;
}

/** One at a time, and nothing after the payment. An effect that happens twice is another fault. */
function isInOrder(effects: readonly Effect[]): boolean {
  const sorted = effects.toSorted((a, b) => a.began - b.began);
  const once = sorted.filter(
    ({ transition }, index) => sorted.findIndex((one) => one.transition === transition) === index,
  );
  return once.every((effect, index) => {
    const before = once[index - 1];
    return before === undefined || (before.ended <= effect.began && before.status !== PAID);
  });
}

/**
 * Whether an order of the requests for a body explains their responses, each at a moment between its begin and its end: the
 * first one is reported as first, and all others as repetitions. A request without a response may be the first one, even after
 * its end.
 */
function answersFit(requests: readonly Request[]): boolean {
  const [first, ...others] = requests.filter(({ answer }) => answer === 'first');
  if (others.length > 0) return false;
  const possible =
    first === undefined
      ? requests.filter(({ answer }) => answer === 'none' || answer === 'acknowledged')
      : [first];
  const repetitions = requests.filter(({ answer }) => answer === 'repetition');
  return repetitions.every(({ ended }) => possible.some(({ began }) => began <= ended));
}

function isExpectation({ kind, money }: Request, wanted: string): boolean {
  return kind === 'expectation' && money === wanted;
}

function isAcknowledged({ answer }: Request): boolean {
  return answer !== 'refused' && answer !== 'none';
}
