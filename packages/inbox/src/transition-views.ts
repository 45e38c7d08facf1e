import type { SignedFields } from '@payment-service/core';
import type { Comparison } from './evaluation.ts';
import { expectationIn } from './expectation.ts';
import { type StoredClaim, storedSignedFields } from './intake-record.ts';
import {
  bytesOf,
  hexOf,
  numberOf,
  optionalHex,
  optionalText,
  type Row,
  type Session,
  type SqlValue,
  textOf,
} from './session.ts';
import type { Tables } from './tables.ts';
import type { TransitionReason, TransitionState } from './transition-state.ts';

/** A transition in a list. */
export interface TransitionSummary {
  readonly transitionId: string;
  readonly state: TransitionState;
  readonly reason: TransitionReason | undefined;
  readonly signed: SignedFields;
  /** Failed attempts of the handler. */
  readonly attempts: number;
  /** How often it came, all bodies together. */
  readonly deliveries: number;
  /** How many distinct bodies are kept. */
  readonly bodyCount: number;
  readonly firstAt: Date;
  readonly changedAt: Date;
  /** When it is worked on next; undefined unless pending or retrying. */
  readonly nextAt: Date | undefined;
  /** What the handler threw last, at most 500 characters. */
  readonly lastError: string | undefined;
  /** What a person noted. */
  readonly note: string | undefined;
}

/** A transition with all that is known of it. Personal data is in the bodies. */
export interface TransitionDetails extends TransitionSummary {
  readonly expectation:
    | {
        readonly currency: string;
        readonly amount: string;
        readonly compare: Comparison;
        /** The id of the transition that settled it. */
        readonly settledBy: string | undefined;
      }
    | undefined;
  readonly bodies: readonly KeptBody[];
}

/** One distinct body of a transition. */
export interface KeptBody {
  /** SHA-256 of the body, 64 hexadecimal digits. */
  readonly digest: string;
  /** The JSON text as it came; undefined after `prune()`. */
  readonly text: string | undefined;
  /** What it claims about money. */
  readonly request: StoredClaim;
  readonly transaction: StoredClaim;
  readonly deliveries: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly keyId: string;
  /** The rule that refused it, where it is evidence. */
  readonly refusal: string | undefined;
  /** Whether it is the one that equalled the expectation when the transition was settled. */
  readonly isSettled: boolean;
}

export interface ListOptions {
  readonly state?: TransitionState | undefined;
  /**
   * Exactly this signed field. No index holds it: the transitions of the account are read one by one, which is for a
   * person who looks something up, not for every request.
   */
  readonly merchant_reference?: string | undefined;
  /** As `merchant_reference`. */
  readonly internal_reference?: string | undefined;
  /** At most 1000. Default 50. */
  readonly limit?: number | undefined;
  /** The last transitionId of the page before. */
  readonly after?: string | undefined;
}

const COLUMNS = `t.transition_id, t.signed, t.state, t.reason, t.attempts, t.bodies, t.next_at, t.first_at,
  t.changed_at, t.last_error, t.note`;

/** Checked options of a list. */
export interface TransitionFilter {
  readonly state: TransitionState | undefined;
  readonly limit: number;
  readonly after: Uint8Array | undefined;
  readonly merchantReference: string | undefined;
  readonly internalReference: string | undefined;
}

/** The newest first. */
export async function listTransitions(
  session: Session,
  tables: Tables,
  account: string,
  { state, limit, after, merchantReference, internalReference }: TransitionFilter,
): Promise<TransitionSummary[]> {
  const values: SqlValue[] = [account, limit];
  const conditions = ['t.account = $1'];
  // The state stands in the text, so that the planner can use the index of the parked ones.
  if (state !== undefined) conditions.push(`t.state = '${state}'`);
  const bind = (value: SqlValue): string => `$${values.push(value)}`;
  if (after !== undefined) {
    conditions.push(`t.id < (select id from ${tables.transition} where transition_id = ${bind(after)})`);
  }
  for (const fragment of signedFragments({ merchantReference, internalReference })) {
    conditions.push(`replace(t.signed, ${bind(fragment)}, '') <> t.signed`);
  }
  const { rows } = await session.query(
    `select ${COLUMNS}, (select sum(b.deliveries) from ${tables.body} b where b.transition = t.id)
       as deliveries
     from ${tables.transition} t where ${conditions.join(' and ')} order by t.id desc limit $2`,
    values,
  );
  return rows.map(summaryIn);
}

/**
 * What the stored text of the signed fields holds exactly where a field has this value. A quote inside a value is
 * escaped there, so no value can hold the fragment of another field.
 */
function signedFragments({
  merchantReference,
  internalReference,
}: Pick<TransitionFilter, 'merchantReference' | 'internalReference'>): readonly string[] {
  const fragments: string[] = [];
  if (merchantReference !== undefined) {
    fragments.push(`"merchant_reference":${JSON.stringify(merchantReference)},"internal_reference":`);
  }
  if (internalReference !== undefined) {
    fragments.push(`"internal_reference":${JSON.stringify(internalReference)},"transaction_type":`);
  }
  return fragments;
}

export async function showTransition(
  session: Session,
  tables: Tables,
  account: string,
  id: Uint8Array,
): Promise<TransitionDetails | undefined> {
  const { rows } = await session.query(
    `select ${COLUMNS}, t.settled_digest, b.deliveries, b.digest, b.body, b.request_currency, b.request_amount,
       b.transaction_currency, b.transaction_amount, b.key_id, b.refusal, b.first_at as body_first_at,
       b.last_at as body_last_at, e.currency as expected_currency, e.amount as expected_amount, e.compare,
       e.settled_by
     from ${tables.transition} t
     join ${tables.body} b on b.transition = t.id
     left join ${tables.expectation} e on e.reference_key = t.reference_key
     where t.transition_id = $1 and t.account = $2 order by b.first_at, b.digest`,
    [id, account],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const settled = optionalHex(row, 'settled_digest');
  const bodies = rows.map((each) => keptBodyIn(each, settled));
  const deliveries = bodies.reduce((sum, body) => sum + body.deliveries, 0);
  return { ...summaryIn(row), deliveries, expectation: expectationIn(row), bodies };
}

function summaryIn(row: Row): TransitionSummary {
  const state = textOf(row, 'state') as TransitionState;
  const isDue = state === 'pending' || state === 'retrying';
  return {
    transitionId: hexOf(bytesOf(row, 'transition_id')),
    state,
    reason: optionalText(row, 'reason') as TransitionReason | undefined,
    signed: storedSignedFields(textOf(row, 'signed')),
    attempts: numberOf(row, 'attempts'),
    deliveries: numberOf(row, 'deliveries'),
    bodyCount: numberOf(row, 'bodies'),
    firstAt: dateIn(row, 'first_at'),
    changedAt: dateIn(row, 'changed_at'),
    nextAt: isDue ? dateIn(row, 'next_at') : undefined,
    lastError: optionalText(row, 'last_error'),
    note: optionalText(row, 'note'),
  };
}

function keptBodyIn(row: Row, settledDigest: string | undefined): KeptBody {
  const digest = hexOf(bytesOf(row, 'digest'));
  return {
    digest,
    text: row['body'] === null ? undefined : Buffer.from(bytesOf(row, 'body')).toString('utf8'),
    ...claimsIn(row),
    deliveries: numberOf(row, 'deliveries'),
    firstAt: dateIn(row, 'body_first_at'),
    lastAt: dateIn(row, 'body_last_at'),
    keyId: textOf(row, 'key_id'),
    refusal: optionalText(row, 'refusal'),
    isSettled: digest === settledDigest,
  };
}

function claimsIn(row: Row): { request: StoredClaim; transaction: StoredClaim } {
  const claim = (side: string): StoredClaim => ({
    currency: optionalText(row, `${side}_currency`) ?? null,
    amount: optionalText(row, `${side}_amount`) ?? null,
  });
  return { request: claim('request'), transaction: claim('transaction') };
}

function dateIn(row: Row, name: string): Date {
  return new Date(numberOf(row, name));
}
