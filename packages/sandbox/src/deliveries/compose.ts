import type { SignedFields, Verifier } from '@payment-service/core';
import { signedMessage } from '@payment-service/core/internal';
import { checkDestination } from '../state/hosts.ts';
import type { ComposedChanges, Misbehaviour } from '../state/misbehaviour.ts';
import type { DeliveryRecord, Signing, TransactionRecord } from '../state/records.ts';
import { refuse } from '../state/refusal.ts';
import type { Reader, Unit } from '../state/store.ts';
import type { Signer } from './callback-data.ts';
import { type Content, changedContent, genuineContent } from './content.ts';
import { putDelivery, queuedDeliveries } from './deliveries.ts';
import { misbehavioursIn, type Timing, wordsOf } from './misbehaviours.ts';

/** What a composition would send. */
export interface CallbackPreview {
  readonly url: string;
  readonly body: string;
  /** The value of `hmac-signature`. */
  readonly signature: string;
  /** The five strings that are signed, and the one string that they are joined to. */
  readonly signed: SignedFields;
  readonly signed_string: string;
  readonly key: Signing['key'];
  /** Whether a verifier with the account's signing key accepts it, `t` aside. */
  readonly verifies: boolean;
  /** Why it does not, as the verifier says it. */
  readonly refusal: { readonly code: string; readonly hint: string } | null;
}

/** What composing needs beside the state. */
export interface ComposeContext {
  readonly rules: { readonly allowedHosts: readonly string[] };
  readonly sign: Signer;
  readonly verifier: Verifier;
}

/** Plans a callback: of a transaction the genuine one, of a delivery what it sent, with the changes. */
function plan(
  reader: Reader,
  { rules, sign }: ComposeContext,
  id: number,
  { callback_url, retry, ...changes }: ComposedChanges,
  now: number,
): Plan {
  const delivery = reader.get('delivery', id);
  const transaction = reader.get('transaction', delivery?.transactionId ?? id);
  if (transaction === undefined) {
    refuse('not_found', 'There is no such transaction or delivery.');
  }
  const url =
    callback_url ??
    delivery?.url ??
    transaction.callbackUrl ??
    reader.get('settings', 'settings')?.callback_url;
  if (url === undefined || url === null) {
    const message =
      'callback_url: is required, because the transaction has none and neither has the sandbox.';
    refuse('destination_refused', message, 'callback_url');
  }
  if (callback_url !== undefined) checkDestination(callback_url, rules.allowedHosts);
  const isSame = delivery !== undefined && isUnchanged(changes);
  return {
    transaction,
    base: delivery ?? genuineContent(transaction, sign, now),
    changes,
    url,
    retry: { ...(delivery?.retry ?? transaction.retry), ...retry },
    origin: delivery?.id ?? null,
    copy: delivery === undefined ? 0 : delivery.copy + 1,
    misbehaves: isSame ? [...delivery.misbehaves, `sent again after ${id}`] : [`composed from ${id}`],
  };
}

/** The composition that sends a delivery again, unchanged. */
export const unchanged: ComposedChanges = { signature: 'keep' };
const isUnchanged = (changes: Misbehaviour): boolean =>
  changes.signature === 'keep' && Object.keys(changes).length === 1;

/** Sends a callback again, with changes; returns it and its copies. */
export function compose(
  unit: Unit,
  context: ComposeContext,
  id: number,
  changes: ComposedChanges,
  now: number,
): DeliveryRecord[] {
  return scheduleDeliveries(unit, plan(unit, context, id, changes, now), context.sign, now);
}

/** Shows what `compose` would send. */
export function preview(
  reader: Reader,
  context: ComposeContext,
  id: number,
  asked: ComposedChanges,
  now: number,
): CallbackPreview {
  const { transaction, base, changes, url } = plan(reader, context, id, asked, now);
  const { body, signature, signed, signing } = changedContent(transaction, base, changes, context.sign, now);
  const verdict = context.verifier.verifyCallback({ signature, body });
  return {
    url,
    body,
    signature,
    signed,
    signed_string: signedMessage(signed),
    key: signing.key,
    verifies: verdict.ok,
    refusal: verdict.ok ? null : { code: verdict.code, hint: verdict.hint },
  };
}

/** The deliveries that were given up since then and have not been sent again: of equal ones only the newest counts. */
export function failedSince(reader: Reader, since: number): DeliveryRecord[] {
  const newest = new Map<string, DeliveryRecord>();
  for (const one of reader.list('delivery')) {
    newest.set(JSON.stringify([one.transactionId, one.url, one.body, one.signing.key]), one);
  }
  return [...newest.values()].filter(
    ({ state, attempts }) => state === 'given_up' && (attempts.at(-1)?.at ?? 0) >= since,
  );
}

/** A callback to be sent, and what it is told to do wrong. */
export interface Plan extends Pick<DeliveryRecord, 'url' | 'retry' | 'origin'> {
  readonly transaction: TransactionRecord;
  /** What is sent without changes, and what the copies of `duplicate` say. */
  readonly base: Content;
  readonly changes: Misbehaviour;
  /** What is said of every copy. */
  readonly misbehaves?: readonly string[];
  /** The number of the first copy. */
  readonly copy?: number;
}

/** How long one that is out of order waits for a later callback. */
const HOLD_MS = 60_000;

/** Schedules a callback and its copies; returns them in their order. */
export function scheduleDeliveries(unit: Unit, plan: Plan, sign: Signer, now: number): DeliveryRecord[] {
  const { transaction, base, changes, url, retry, origin, misbehaves = [], copy: start = 0 } = plan;
  const found = misbehavioursIn(changes);
  const timing = found.reduce<Timing>(
    (made, one) => one.timing?.(made, changes, transaction.redirectUrl !== null) ?? made,
    { isLost: false, wait: 0, more: 0, isHeld: false, words: [] },
  );
  if (timing.isLost) return [];
  // One that is held already is overtaken by this one: two that wait for each other would arrive in order.
  const held = timing.isHeld && !queuedDeliveries(unit).some((other) => other.held);
  const words = [
    ...wordsOf(changes, (one) => one.timing === undefined),
    ...timing.words,
    ...(held ? ['out of order'] : []),
  ];
  const changed = changedContent(transaction, base, changes, sign, now);
  const scheduled: DeliveryRecord[] = [];
  for (let copy = 0; copy <= timing.more; copy += 1) {
    const first = copy === 0;
    const delivery: DeliveryRecord = {
      ...(first ? changed : base),
      id: unit.nextId('delivery'),
      transactionId: transaction.id,
      createdAt: now,
      origin,
      url,
      retry,
      copy: start + copy,
      misbehaves: [...misbehaves, ...(first ? words : [`duplicate ${copy}`])],
      state: 'scheduled',
      dueAt: first ? now + (held ? HOLD_MS : timing.wait) : null,
      after: scheduled.at(-1)?.id ?? null,
      held: first && held,
      attempts: [],
    };
    putDelivery(unit, delivery);
    scheduled.push(delivery);
  }
  return scheduled;
}
