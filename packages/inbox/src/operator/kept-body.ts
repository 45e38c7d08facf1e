import { type BodyContent, isSealed } from '../body-content.ts';
import { dateOf, numberOf, optionalText, type Row, textOf } from '../store/store.ts';
import type { StoredClaim } from '../work/verdict/evaluate.ts';
import { bodyIn, reasonIn } from '../work/verdict/stored.ts';

/** One distinct body of a transition. */
export interface KeptBody {
  /**
   * Distinguishes the bodies of a transition, in 64 hexadecimal digits: SHA-256 of the body; with `bodies: 'claims'`, with
   * `encryption` and after `forget()`, of what the body claims about money and of the signed fields.
   */
  readonly digest: string;
  /**
   * The JSON text, unchanged, or serialised again if a body parser read it first; with `bodies: 'claims'`, a JSON text of the
   * amounts only. Undefined after `prune()` and `forget()`, and if `isSealed` is true.
   */
  readonly text: string | undefined;
  /** The content exists but cannot be opened: its key is missing, or it belongs to another row. */
  readonly isSealed: boolean;
  /** What it claims about money. */
  readonly request: StoredClaim;
  readonly transaction: StoredClaim;
  readonly deliveries: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly keyId: string;
  /** The rule that refused it, if it is evidence. */
  readonly refusal: string | undefined;
  /** Of its first request, if that had one (W3C Trace Context): finds the request in a tracing tool. */
  readonly traceparent: string | undefined;
  /** Whether it is the one that equalled the expectation when the transition was settled. */
  readonly isSettled: boolean;
}

/** Of a row of show_bodies. */
export function keptBodyIn(row: Row, transitionId: string, bodyContent: BodyContent): KeptBody {
  const body = bodyIn(row);
  const content = optionalText(row, 'content');
  const text = bodyContent.open(content, { transitionId, digest: body.digest });
  return {
    ...body,
    text,
    isSealed: isSealed(content) && text === undefined,
    deliveries: 1 + numberOf(row, 'repeats'),
    firstAt: dateOf(row, 'first_at'),
    lastAt: dateOf(row, 'last_at'),
    keyId: textOf(row, 'key_id'),
    refusal: reasonIn(row, 'refusal'),
    traceparent: optionalText(row, 'traceparent'),
    isSettled: body.digest === optionalText(row, 'settled_digest'),
  };
}
