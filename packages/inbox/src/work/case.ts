import type { SignedFields } from '@payment-service/core';
import type { TransitionReason } from '../states.ts';
import type { Statements } from '../store/statements.ts';
import { numberOf, optionalText, type Row, textOf } from '../store/store.ts';
import type { Claims, EvaluatedBody, TransitionCase } from './evaluate.ts';
import { expectationIn } from './expectation.ts';

/** All that is known of one transition while it is decided on. */
export interface CaseFile extends TransitionCase {
  /** Of the attempt that may settle it. */
  readonly startId: string | undefined;
  /** How often it was looked at in vain. */
  readonly looks: number;
  /** Changes with everything that could change the verdict. */
  readonly revision: number;
  /** The text of its only body; undefined when it has more, or when it was pruned. */
  readonly content: string | undefined;
}

/** Reads everything in one statement, so that it fits together; undefined if there is no such transition. */
export async function readCase<Tx>(
  statements: Statements<Tx>,
  id: number,
  tx: Tx,
): Promise<CaseFile | undefined> {
  const rows = await statements.run('read_case', [id], tx);
  const [row] = rows;
  if (row === undefined) return undefined;
  const verified = rows.filter((body) => body['refusal'] === null);
  const evidence = rows.filter((body) => body['refusal'] !== null);
  const applied = optionalText(row, 'applied');
  return {
    transitionId: textOf(row, 'transition_id'),
    signed: signedIn(textOf(row, 'signed')),
    bodies: verified.map(bodyIn),
    refusals: evidence.map((body) => textOf(body, 'refusal') as TransitionReason),
    expectation: expectationIn(row),
    appliedStatus: applied === undefined ? undefined : signedIn(applied).transaction_status,
    isPaidByAnother: numberOf(row, 'is_paid_by_another') === 1,
    unfinished: numberOf(row, 'unfinished') - 1,
    isWaived: numberOf(row, 'waived') === 1,
    startId: optionalText(row, 'start_id'),
    looks: numberOf(row, 'looks'),
    revision: numberOf(row, 'revision'),
    content: optionalText(row, 'content'),
  };
}

/** @throws {TypeError} When the text does not hold the five strings. */
export function signedIn(text: string): SignedFields {
  const { event, merchant_reference, internal_reference, transaction_type, transaction_status } = JSON.parse(
    text,
  ) as Record<keyof SignedFields, unknown>;
  const signed = { event, merchant_reference, internal_reference, transaction_type, transaction_status };
  if (isStrings(signed)) return Object.freeze(signed);
  throw new TypeError('A row of the inbox does not hold the five signed strings. Was it changed by hand?');
}

function isStrings(signed: Record<keyof SignedFields, unknown>): signed is SignedFields {
  return Object.values(signed).every((value) => typeof value === 'string');
}

export function bodyIn(row: Row): EvaluatedBody {
  return { digest: textOf(row, 'digest'), ...(JSON.parse(textOf(row, 'claims')) as Claims) };
}
