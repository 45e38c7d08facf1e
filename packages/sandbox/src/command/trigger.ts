import { nearName } from '@payment-service/core/internal';
import { sampleCallback } from '@payment-service/core/testing';
import { misbehaviours } from '../deliveries/misbehaviours.ts';
import { collectionFields } from '../service/request-schemas.ts';
import { defaultProviders } from '../service/simulated-providers.ts';
import type { SandboxDelivery } from '../service/views.ts';
import { asObject, readJson } from '../state/json-values.ts';
import { CommandError, UsageError } from './failures.ts';
import type { Session } from './session.ts';

/** What `trigger` and the first callback send. */
export interface TriggerOptions {
  /** Where the callback is sent. @default the payment's callback URL, or the sandbox's */
  readonly to?: string | undefined;
  /** `field=value`, as in `amount=700`. */
  readonly set?: readonly string[] | undefined;
  /** JSON, or names such as `duplicate` and `forged_amount=1`. */
  readonly misbehave?: readonly string[] | undefined;
}

/** A transaction and the callbacks that it sent. */
export interface Triggered {
  readonly transaction: Record<string, unknown>;
  readonly deliveries: readonly SandboxDelivery[];
}

type Fields = Record<string, unknown>;

const WAIT_MS = 15_000;
const POLL_MS = 50;

/** The fields of a collection that are not strings. */
const LITERALS = ['amount', 'charge_customer'];

/** Every field of a callback. Fields that a collection does not have change only the callback. */
const CALLBACK_FIELDS: readonly string[] = ['event', ...Object.keys(sampleCallback().payload)];

/**
 * Sends the callback of the newest payment with this reference, which is completed if it is pending, and waits until the
 * callback has been tried. Without a reference, or if no payment has it, a collection is started.
 */
export async function trigger(
  session: Session,
  options: TriggerOptions,
  reference?: string,
): Promise<Triggered> {
  const { given, changes } = fieldsOf(options);
  const misbehave = { ...readMisbehaviours(options.misbehave ?? []), ...changes };
  const payment = reference === undefined ? undefined : await paymentOf(session, reference);
  if (payment !== undefined) return triggerAgain(session, payment, given, misbehave);
  const named = reference === undefined ? {} : { merchant_reference: reference };
  const request: Fields = {
    merchant_reference: 'ORD-1001',
    amount: 500,
    currency: 'UGX',
    ...given,
    ...named,
  };
  const isChanged = options.misbehave !== undefined || Object.keys(changes).length > 0;
  const body = { ...payerIn(request), ...request, ...(isChanged ? { misbehave } : {}) };
  const { transaction } = await session.call('POST', '/sandbox/collections', body);
  const started = Object(transaction) as Fields;
  if (started['callback_url'] === null) {
    throw new UsageError(
      'The transaction has no callback URL. Set one with --to, or start the sandbox with --callback-url.',
    );
  }
  return { transaction: started, deliveries: await tried(session, Number(started['id'])) };
}

/** The callback of a payment that the merchant's own program has started. */
async function triggerAgain(
  session: Session,
  payment: Fields,
  { callback_url, ...given }: Fields,
  misbehave: Fields,
): Promise<Triggered> {
  const { id, merchant_reference: reference } = payment;
  const [field] = Object.keys(given);
  if (field !== undefined) {
    throw new UsageError(
      `${reference} has been started, so its ${field} cannot be set. To change what its callback says, use --misbehave.`,
    );
  }
  const changes = callback_url === undefined ? misbehave : { ...misbehave, callback_url };
  if (payment['transaction_status'] !== 'PENDING') return composed(session, payment, changes);
  if (Object.keys(changes).length > 0) {
    throw new UsageError(
      `${reference} is pending, and its callback is sent when it is completed. Complete it first: trigger ${reference}`,
    );
  }
  const { transaction } = await session.call('POST', `/sandbox/transactions/${id}/outcome`, {
    outcome: 'completed',
  });
  return { transaction: Object(transaction) as Fields, deliveries: await tried(session, Number(id)) };
}

export interface ReversalOptions {
  readonly event: string;
  readonly status: string;
  readonly to?: string;
}

/**
 * Sends a callback that reports a payment as reversed. The simulated wallets do not change.
 *
 * @throws {CommandError} If no payment has the reference.
 */
export async function reverse(
  session: Session,
  reference: string,
  { event, status, to }: ReversalOptions,
): Promise<Triggered> {
  const payment = await paymentOf(session, reference);
  if (payment === undefined) {
    throw new CommandError(
      `No payment of this sandbox has the reference ${reference}. To pay it first: trigger ${reference}`,
    );
  }
  return composed(session, payment, { event, status, ...(to === undefined ? {} : { callback_url: to }) });
}

/** The newest payment with this reference. */
async function paymentOf(session: Session, reference: string): Promise<Fields | undefined> {
  const query = new URLSearchParams({ merchant_reference: reference, limit: '1' });
  const { transactions } = await session.call('GET', `/sandbox/transactions?${query}`);
  return (transactions as readonly Fields[])[0];
}

async function composed(session: Session, payment: Fields, changes: Fields): Promise<Triggered> {
  const id = Number(payment['id']);
  const { deliveries } = await session.call('POST', `/sandbox/transactions/${id}/compose`, changes);
  const ids = (deliveries as readonly SandboxDelivery[]).map((delivery) => delivery.id);
  return { transaction: payment, deliveries: await tried(session, id, ids) };
}

/** Resends a delivery, and waits until it has been tried. */
export async function resend(session: Session, id: number): Promise<readonly SandboxDelivery[]> {
  const { delivery } = await session.call('POST', `/sandbox/deliveries/${id}/resend`);
  const { id: newId, transaction_id } = delivery as SandboxDelivery;
  return tried(session, transaction_id, [newId]);
}

/** Misbehaviours as written on a command line: JSON, `name` or `name=value`, combined. */
export function readMisbehaviours(given: readonly string[]): Record<string, unknown> {
  const all = given.map((text) => {
    if (text.trim().startsWith('{')) return jsonObject(text, '--misbehave');
    const [name, value] = pairOf(text);
    const known = misbehaviours.get(name);
    if (known === undefined) throw unknownMisbehaviour(name);
    return { [name]: value === undefined ? (known.sample ?? true) : literal(value) };
  });
  return Object.assign({}, ...all);
}

function unknownMisbehaviour(name: string): UsageError {
  const known = [...misbehaviours.keys()];
  const near = nearName(name, known);
  const meant = near === undefined ? '' : ` Did you mean ${near}?`;
  return new UsageError(`--misbehave does not know "${name}".${meant} Known names: ${known.join(', ')}.`);
}

/** @throws {UsageError} If it is not a JSON object. */
export function jsonObject(text: string, option: string): Record<string, unknown> {
  const value = asObject(readJson(text));
  if (value === undefined) throw new UsageError(`${option} must be a JSON object, such as '{}'.`);
  return value;
}

/** The fields of the collection, and the changes of its callback. */
function fieldsOf({ to, set = [] }: TriggerOptions): { given: Fields; changes: Fields } {
  const given: Fields = {};
  const changes: Fields = {};
  const fields: Fields = {};
  for (const text of set) {
    const [name, value] = pairOf(text);
    if (value === undefined) throw new UsageError(`--set needs field=value, not "${text}".`);
    if (collectionFields.includes(name)) given[name] = LITERALS.includes(name) ? literal(value) : value;
    else if (!CALLBACK_FIELDS.includes(name)) fields[name] = newField(name, value);
    else if (name === 'event') changes['event'] = value;
    else if (name === 'transaction_status') changes['status'] = value;
    else fields[name] = literal(value);
  }
  if (Object.keys(fields).length > 0) changes['extra_fields'] = fields;
  if (to !== undefined) given['callback_url'] = to;
  return { given, changes };
}

/** A field that callbacks do not have yet, to test how a receiver treats fields that the service may add. */
function newField(name: string, value: string): unknown {
  const near = nearName(name, [...collectionFields, ...CALLBACK_FIELDS]);
  if (near === undefined) return literal(value);
  throw new UsageError(
    `--set does not know "${name}". Did you mean ${near}? For a new field of the callback, use --misbehave '{"extra_fields":{"${name}":…}}'.`,
  );
}

/** A provider that collects in this currency, and one of its account numbers. */
export function payerIn({ currency, provider_code }: Record<string, unknown>): object {
  const found = defaultProviders.find(
    ({ option }) =>
      option.transaction_currency === currency &&
      option.transaction_type === 'Collection' &&
      (provider_code === undefined || option.provider_code === provider_code),
  );
  if (found === undefined) return {};
  const [prefix = ''] = found.option.option_prefixes;
  return { provider_code: found.option.provider_code, account: `${prefix}2000001` };
}

function pairOf(text: string): [name: string, value: string | undefined] {
  const at = text.indexOf('=');
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** A JSON value, or otherwise the string itself. */
function literal(text: string): unknown {
  const value = readJson(text);
  return value === undefined ? text : value;
}

/** The deliveries of a transaction, or some of them, once each has been tried or is due after the timeout. */
async function tried(
  session: Session,
  transactionId: number,
  ids?: readonly number[],
): Promise<SandboxDelivery[]> {
  const { now } = await session.call('GET', '/sandbox/clock');
  const end = Date.now() + WAIT_MS;
  const lastDue = Date.parse(String(now)) + WAIT_MS;
  for (;;) {
    const { deliveries } = await session.call('GET', `/sandbox/deliveries?transaction_id=${transactionId}`);
    const listed = (deliveries as SandboxDelivery[]).filter((each) => ids?.includes(each.id) ?? true);
    const isWaiting = listed.some(
      ({ attempts, state, due_at }) =>
        attempts.length === 0 && state === 'scheduled' && (due_at === null || Date.parse(due_at) <= lastDue),
    );
    if (!isWaiting || Date.now() >= end) return listed.reverse();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
