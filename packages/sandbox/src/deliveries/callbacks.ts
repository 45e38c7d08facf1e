import type { TransactionCallback } from '@payment-service/core';
import { signCallback } from '@payment-service/core/testing';
import { toMinor } from '../service/money.ts';
import { deriveText } from '../state/account.ts';
import type { DeliveryRecord, TransactionRecord } from '../state/records.ts';
import type { Unit } from '../state/store.ts';
import { callbackData, forgeAmount } from './callback-data.ts';
import { putDelivery, queuedDeliveries } from './delivery-queue.ts';
import { HOLD_MS, REDIRECT_LEAD_MS } from './misbehaviour.ts';

/** Signs callback data with the account's key, or on purpose with another one. */
export type Signer = (data: TransactionCallback, options: { now: number; badSignature?: boolean }) => string;

/** `t` is in seconds by default; the service's unit is not shown (protocol §5.2). */
export function createSigner(
  signingKey: string,
  seed: string,
  timestampUnit: 'seconds' | 'milliseconds',
): Signer {
  const otherKey = `SANDBOXOTHER${deriveText(seed, 'another signing key', 32)}`;
  return (data, { now, badSignature = false }) =>
    signCallback({
      signingKey: badSignature ? otherKey : signingKey,
      data,
      timestamp: Math.floor(timestampUnit === 'seconds' ? now / 1000 : now),
    });
}

/** Schedules the callback of a decided transaction, with everything that it is told to do wrong. */
export function scheduleCallbacks(
  unit: Unit,
  transaction: TransactionRecord,
  sign: Signer,
  now: number,
): void {
  const { callbackUrl, misbehave } = transaction;
  if (callbackUrl === null) return;
  const genuine = callbackData(transaction);
  const overtakes = queuedDeliveries(unit).some(({ held }) => held);
  const redirectFirst = misbehave.redirect_first === true && transaction.redirectUrl !== null;
  const wait = (misbehave.late_ms ?? 0) + (redirectFirst ? REDIRECT_LEAD_MS : 0);
  const forgedMinor =
    misbehave.forged_amount === undefined
      ? undefined
      : toMinor(misbehave.forged_amount, transaction.currency);
  let after: number | null = null;
  for (let copy = 0; copy <= (misbehave.duplicate ?? 0); copy += 1) {
    const first = copy === 0;
    const forged = first ? forgedMinor : undefined;
    const badSignature = first && misbehave.bad_signature === true;
    // One that is held already is overtaken by this one: two that wait for each other would arrive in order.
    const held = first && misbehave.out_of_order === true && !overtakes;
    const data = forged === undefined ? genuine : callbackData(forgeAmount(transaction, forged));
    const delivery: DeliveryRecord = {
      id: unit.nextId(),
      transactionId: transaction.id,
      url: callbackUrl,
      copy,
      body: JSON.stringify(data),
      signature: sign(data, { now, badSignature }),
      badSignature,
      misbehaves: [
        ...(first ? [] : [`duplicate ${copy}`]),
        ...(forged === undefined ? [] : ['forged amount']),
        ...(badSignature ? ['bad signature'] : []),
        ...(held ? ['out of order'] : []),
        ...(first && misbehave.late_ms !== undefined && misbehave.late_ms > 0 ? ['late'] : []),
        ...(first && redirectFirst ? ['after the redirect'] : []),
      ],
      state: 'scheduled',
      dueAt: first ? now + (held ? HOLD_MS : wait) : null,
      after,
      held,
      attempts: [],
    };
    putDelivery(unit, delivery);
    after = delivery.id;
  }
}
