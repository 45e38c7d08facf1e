import type { SignedFields, TransactionCallback } from '@payment-service/core';
import { readSignedFields, signedMessage } from '@payment-service/core/internal';
import { checkDestination } from '../state/hosts.ts';
import { asObject, readJson } from '../state/json-values.ts';
import type { ComposedChanges, Misbehaviour } from '../state/misbehaviour.ts';
import type { DeliveryRecord, Signing, TransactionRecord } from '../state/records.ts';
import { refuse } from '../state/refusal.ts';
import type { Reader } from '../state/store.ts';
import { callbackData, signedFieldsOf } from './callback-data.ts';
import { type CallbackContent, misbehavioursIn, type Timing, wordsOf } from './misbehaviours.ts';
import { putDelivery, queuedDeliveries } from './queue.ts';
import type { Moment, Work } from './unit-of-work.ts';

/** The content of a callback, and how it is signed. */
export type Content = Pick<DeliveryRecord, 'body' | 'signature' | 'signed' | 'signing'>;

const genuineSigning: Signing = { key: 'account', offsetSeconds: 0, unit: null };

/** A callback as the service would sign it now. */
export function contentOf({ sign, now }: Pick<Moment, 'sign' | 'now'>, data: TransactionCallback): Content {
  const signed = signedFieldsOf(data);
  return { body: JSON.stringify(data), signed, signing: genuineSigning, signature: sign(signed, now) };
}

/** What is changed in a callback. */
interface Changed extends Pick<Plan, 'base' | 'changes'> {
  /** What the service would send. */
  readonly genuine: TransactionCallback;
}

/**
 * A callback with deliberate changes. If it is signed again but has no five signed strings (one was omitted, or it is not
 * JSON), it keeps the signature of the callback that it was made from.
 */
export function changedContent(
  { sign, now }: Pick<Moment, 'sign' | 'now'>,
  { genuine, base, changes }: Changed,
): Content {
  const body = changedBody(genuine, base.body, changes);
  const isKept = changes.signature === 'keep';
  const signings = misbehavioursIn(changes).flatMap(({ signing }) => signing ?? []);
  if (isKept && signings.length === 0) return { ...base, body };
  const signed = isKept ? base.signed : (signedIn(body) ?? base.signed);
  const start = isKept ? { ...genuineSigning, key: base.signing.key } : genuineSigning;
  const signing = signings.reduce((made, change) => change(made, changes), start);
  return { body, signed, signing, signature: sign(signed, now, signing) };
}

function changedBody(genuine: TransactionCallback, base: string, changes: Misbehaviour): string {
  const found = misbehavioursIn(changes);
  const [whole] = found.flatMap(({ body }) => body?.(changes) ?? []);
  if (whole !== undefined) return whole;
  if (!found.some(({ content, omitted }) => content ?? omitted)) return base;
  const { event, payload } = found.reduce<CallbackContent>(
    (data, { content }) => content?.(data, changes, genuine) ?? data,
    readCallback(base) ?? genuine,
  );
  const omitted = found.flatMap((one) => one.omitted?.(changes) ?? []);
  const left = Object.entries(payload).filter(([name]) => !omitted.includes(name));
  return JSON.stringify({
    ...(omitted.includes('event') ? {} : { event }),
    payload: Object.fromEntries(left),
  });
}

/** A body with a payload of any content; undefined for any other body. */
export function readCallback(body: string): CallbackContent | undefined {
  const data = asObject(readJson(body));
  const payload = asObject(data?.['payload']);
  return payload && { event: data?.['event'], payload };
}

function signedIn(body: string): SignedFields | undefined {
  const data = readCallback(body);
  return data && readSignedFields((name) => (name === 'event' ? data.event : data.payload[name]));
}

/** The callback that a composition would send. */
export interface CallbackPreview {
  readonly url: string;
  readonly body: string;
  /** The value of `hmac-signature`. */
  readonly signature: string;
  /** The five strings that are signed, and the one string that they are joined to. */
  readonly signed: SignedFields;
  readonly signed_string: string;
  readonly key: Signing['key'];
  /** Whether a verifier with the account's signing key accepts it, regardless of `t`. */
  readonly verifies: boolean;
  /** Why it does not, in the verifier's words. */
  readonly refusal: { readonly code: string; readonly hint: string } | null;
}

/** Plans a callback: the genuine one of a transaction, or what a delivery sent, with the changes. */
function plan(moment: Moment, id: number, { callback_url, retry, ...changes }: ComposedChanges): Plan {
  const delivery = moment.get('delivery', id);
  const transaction = moment.get('transaction', delivery?.transactionId ?? id);
  if (transaction === undefined) {
    refuse('not_found', 'There is no such transaction or delivery.');
  }
  const own = moment.get('settings', 'settings')?.callback_url ?? null;
  const url = callback_url ?? delivery?.url ?? transaction.callbackUrl ?? own;
  if (url === null) {
    const message = 'callback_url: is required, because neither the transaction nor the sandbox has one.';
    refuse('destination_refused', message, 'callback_url');
  }
  if (callback_url !== undefined) checkDestination(callback_url, moment.allowedHosts);
  const isSame = delivery !== undefined && isUnchanged(changes);
  return {
    transaction,
    base: delivery ?? contentOf(moment, callbackData(transaction)),
    changes,
    url,
    retry: { ...(delivery?.retry ?? transaction.retry), ...retry },
    origin: delivery?.id ?? null,
    copy: delivery === undefined ? 0 : delivery.copy + 1,
    misbehaves: isSame ? [...delivery.misbehaves, `sent again after ${id}`] : [`composed from ${id}`],
  };
}

/** The composition that resends a delivery unchanged. */
export const unchanged: ComposedChanges = { signature: 'keep' };
const isUnchanged = (changes: Misbehaviour): boolean =>
  changes.signature === 'keep' && Object.keys(changes).length === 1;

/** Resends a callback with changes; returns it and its copies. */
export const compose = (work: Work, id: number, changes: ComposedChanges): DeliveryRecord[] =>
  scheduleDeliveries(work, plan(work, id, changes));

/** Shows what `compose` would send. */
export function preview(moment: Moment, id: number, asked: ComposedChanges): CallbackPreview {
  const planned = plan(moment, id, asked);
  const genuine = callbackData(planned.transaction);
  const { body, signature, signed, signing } = changedContent(moment, { ...planned, genuine });
  const verdict = moment.verifier.verifyCallback({ signature, body });
  return {
    url: planned.url,
    body,
    signature,
    signed,
    signed_string: signedMessage(signed),
    key: signing.key,
    verifies: verdict.ok,
    refusal: verdict.ok ? null : { code: verdict.code, hint: verdict.hint },
  };
}

/** The newest delivery of each callback to each address: older ones with the same content have been sent again. */
export function newestDeliveries(reader: Reader): DeliveryRecord[] {
  const newest = new Map<string, DeliveryRecord>();
  for (const one of reader.list('delivery')) {
    newest.set(JSON.stringify([one.transactionId, one.url, one.body, one.signing.key]), one);
  }
  return [...newest.values()];
}

/** The deliveries that have been given up since then and not resent. */
export const failedSince = (reader: Reader, since: number): DeliveryRecord[] =>
  newestDeliveries(reader).filter(
    ({ state, attempts }) => state === 'given_up' && (attempts.at(-1)?.at ?? 0) >= since,
  );

/** A callback to be sent, with its misbehaviours. */
export interface Plan extends Pick<DeliveryRecord, 'url' | 'retry' | 'origin'> {
  readonly transaction: TransactionRecord;
  /** What is sent without changes, and by the copies of `duplicate`. */
  readonly base: Content;
  readonly changes: Misbehaviour;
  /** The label of every copy. */
  readonly misbehaves?: readonly string[];
  /** The number of the first copy. */
  readonly copy?: number;
}

/** How long one that is out of order waits for a later callback. */
const HOLD_MS = 60_000;

/** Schedules a callback and its copies; returns them in their order. */
export function scheduleDeliveries(work: Work, plan: Plan): DeliveryRecord[] {
  const { transaction, base, changes, url, retry, origin, misbehaves = [], copy: start = 0 } = plan;
  const found = misbehavioursIn(changes);
  const timing = found.reduce<Timing>(
    (made, one) => one.timing?.(made, changes, transaction.redirectUrl !== null) ?? made,
    { isLost: false, wait: 0, more: 0, isHeld: false, words: [] },
  );
  if (timing.isLost) return [];
  // A callback that is already held is overtaken by this one: if each waited for the other, they would arrive in order.
  const held = timing.isHeld && !queuedDeliveries(work).some((other) => other.held);
  const words = [
    ...wordsOf(changes, (one) => one.timing === undefined),
    ...timing.words,
    ...(held ? ['out of order'] : []),
  ];
  const changed = changedContent(work, { base, changes, genuine: callbackData(transaction) });
  const scheduled: DeliveryRecord[] = [];
  for (let copy = 0; copy <= timing.more; copy += 1) {
    const first = copy === 0;
    const delivery: DeliveryRecord = {
      ...(first ? changed : base),
      id: work.nextId('delivery'),
      transactionId: transaction.id,
      createdAt: work.now,
      origin,
      url,
      retry,
      copy: start + copy,
      misbehaves: [...misbehaves, ...(first ? words : [`duplicate ${copy}`])],
      state: 'scheduled',
      dueAt: first ? work.now + (held ? HOLD_MS : timing.wait) : null,
      after: scheduled.at(-1)?.id ?? null,
      held: first && held,
      attempts: [],
    };
    putDelivery(work, delivery);
    scheduled.push(delivery);
  }
  return scheduled;
}
