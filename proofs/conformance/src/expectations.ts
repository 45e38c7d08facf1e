import type { RefusalCode } from '@payment-service/core';
import type { Mode } from './application.ts';
import { ANSWERS, type AnswerRecord, type Outcome, PRIVATE } from './outcome.ts';

type ByMode = (mode: Mode) => Partial<Outcome>;

/** What the sender of an accepted callback sees: the response of the adapter, or of the app's own handler. */
export function acceptance(mode: Mode): AnswerRecord {
  return mode === 'handler' ? ANSWERS.accepted : ANSWERS.passedThrough;
}

/** Each callback reaches the handler, once. */
export function accepted(...recorded: readonly unknown[]): ByMode {
  const handled = recorded.length === 0 ? ['ORD-1001'] : recorded;
  return (mode) => ({ answers: handled.map(() => acceptance(mode)), handled });
}

/** A genuine callback after this outcome is accepted. */
export function thenAccepted({ answers = [], refusals = [] }: Partial<Outcome>): ByMode {
  return (mode) => ({ answers: [...answers, acceptance(mode)], refusals, handled: ['ORD-1001'] });
}

/** Expects this response; the code reaches `onRefused` exactly once, and the handler is not called. */
export function refused(
  code: RefusalCode,
  answer: AnswerRecord = ANSWERS.unauthorized,
): { readonly answers: readonly [AnswerRecord]; readonly refusals: readonly [RefusalCode] } {
  return { answers: [answer], refusals: [code] };
}

/** The redirect verified: 303 to the clean address, or the response of the app's own handler, with the same headers. */
export function redirected(recorded: unknown = 'ORD-1001'): ByMode {
  const seeOther = { status: 303, body: '', location: '/thanks' };
  return (mode) => ({
    answers: [{ ...(mode === 'handler' ? seeOther : ANSWERS.passedThrough), ...PRIVATE }],
    handled: [recorded],
  });
}

/** A refused redirect without `refusedLocation`. */
export function turnedAway(code: RefusalCode): Partial<Outcome> {
  return { answers: [{ ...ANSWERS.unauthorized, ...PRIVATE }], refusals: [code] };
}
