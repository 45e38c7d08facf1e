import { hash } from 'node:crypto';
import { bodyText, type VerifiedCallback } from '@payment-service/core';
import type { Contender } from './contender.ts';

/** Tables like those of the inbox, and what writes the same rows into them. */
export interface Floor extends Pick<Contender, 'count' | 'close'> {
  /** In one commit. */
  write(rows: readonly SameRow[]): Promise<unknown>;
}

/** What the inbox stores of a callback, made by hand. */
export type SameRow = Readonly<Record<(typeof COLUMNS)[number], string>> & { readonly receivedAt: number };

/** In the order of the floors' statements; `receivedAt` follows. */
export const COLUMNS = [
  'transitionId',
  'signed',
  'referenceKey',
  'transactionType',
  'subjectKey',
  'digest',
  'content',
  'claims',
  'keyId',
] as const;

/** One commit for each callback. */
export function single(floor: Floor): Contender {
  return { ...floor, keep: (callback) => floor.write([sameRow(callback)]) };
}

interface Waiting {
  readonly row: SameRow;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The plainest way to commit for up to 64 callers together: while one group is on its way, the next one gathers. */
export function grouped(floor: Floor, lanes: number): Contender {
  const waiting: Waiting[] = [];
  let free = lanes;
  const next = async (): Promise<void> => {
    if (free === 0 || waiting.length === 0) return;
    free -= 1;
    const group = waiting.splice(0, 64);
    try {
      await floor.write(group.map(({ row }) => row));
      for (const { resolve } of group) resolve();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    free += 1;
    await next();
  };
  const keep = (callback: VerifiedCallback): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ row: sameRow(callback), resolve, reject });
      // Whatever else arrives in this turn of the event loop comes along.
      setImmediate(next);
    });
  return { ...floor, keep };
}

function sameRow(callback: VerifiedCallback): SameRow {
  const { signed, unsigned, transitionId, keyId } = callback;
  const content = bodyText(callback);
  const claimed = { currency: unsigned.request_currency ?? null, amount: String(unsigned.request_amount) };
  return {
    transitionId,
    signed: JSON.stringify(signed),
    referenceKey: hash('sha256', signed.merchant_reference, 'base64url'),
    transactionType: JSON.stringify(signed.transaction_type),
    subjectKey: hash('sha256', signed.internal_reference, 'base64url'),
    digest: hash('sha256', content),
    content,
    claims: JSON.stringify({ request: claimed, transaction: claimed }),
    keyId,
    receivedAt: Date.now(),
  };
}
