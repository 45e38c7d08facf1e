import type { RefusalCode } from '@payment-service/core';
import type { Mode } from './application.ts';
import { ANSWERS, type AnswerRecord, type Outcome, PRIVATE } from './outcome.ts';

type ByMode = (mode: Mode) => Partial<Outcome>;

/** What the sender of an accepted callback sees: the adapter's answer, or the one of the app's own handler. */
export function acceptance(mode: Mode): AnswerRecord {
  return mode === 'handler' ? ANSWERS.accepted : ANSWERS.handedOn;
}

/** The callback reaches the handler, once. */
export function accepted(recorded: unknown = 'ORD-1001'): ByMode {
  return (mode) => ({ answers: [acceptance(mode)], handled: [recorded] });
}

/** The constant answer; the code reaches `onRefused`, and the handler is not called. */
export function refused(code: RefusalCode): Partial<Outcome> {
  return { answers: [ANSWERS.unauthorized], refusals: [code] };
}

/** An answer before anything was verified. */
export function answered(answer: AnswerRecord): Partial<Outcome> {
  return { answers: [answer] };
}

/** The redirect verified: on to the clean address, or to the app's own handler under the same headers. */
export function redirected(recorded: unknown = 'ORD-1001'): ByMode {
  const seeOther = { status: 303, body: '', location: '/thanks' };
  return (mode) => ({
    answers: [{ ...(mode === 'handler' ? seeOther : ANSWERS.handedOn), ...PRIVATE }],
    handled: [recorded],
  });
}

/** A refused redirect, where no `refusedLocation` is set. */
export function turnedAway(code: RefusalCode): Partial<Outcome> {
  return { answers: [{ ...ANSWERS.unauthorized, ...PRIVATE }], refusals: [code] };
}
