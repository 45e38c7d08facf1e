import type { PayoutBank, Wallet } from '@payment-service/core/client';
import type { Outcome as AttemptOutcome } from '@payment-service/core/explain';
import { checkEndpoint } from '../check/check-endpoint.ts';
import {
  type CallbackPreview,
  compose,
  failedSince,
  newestDeliveries,
  preview,
  unchanged,
} from '../deliveries/composition.ts';
import { outcomeOf } from '../deliveries/outcome.ts';
import { createDeliveries, type Deliveries, putDelivery, queuedDeliveries } from '../deliveries/queue.ts';
import type { Context, Moment, Work } from '../deliveries/unit-of-work.ts';
import { checkDestination } from '../state/hosts.ts';
import type {
  CheckReport,
  DeliveryAttempt,
  DeliveryRecord,
  GivenSettings,
  SandboxProvider,
  SettingsRecord,
  TransactionRecord,
  TransferRecord,
} from '../state/records.ts';
import { refuse } from '../state/refusal.ts';
import type { Reader, Unit } from '../state/store.ts';
import { clear, listWallets, openWallets } from './ledger.ts';
import { checkRedirect, decide, makeDeposit, makeTransfer, startTransaction } from './operations.ts';
import { read } from './request-schemas.ts';
import { changeBank, changeProvider, defaultProviders, putProviders } from './simulated-providers.ts';
import { redirectOf, type SandboxDelivery, viewDelivery } from './views.ts';

/**
 * The simulated payment service, which the pages, the HTTP API and the in-process functions call. It parses requests itself,
 * and throws a SandboxRefusal for a wrong one.
 */
export interface Service extends Context {
  collect(request: unknown): TransactionRecord;
  payout(request: unknown): TransactionRecord;
  transfer(request: unknown): TransferRecord;
  /** Ends a pending transaction. */
  decide(id: number, request: unknown): TransactionRecord;
  transaction(id: number): TransactionRecord;
  wallets(currency?: string): Wallet[];
  /** Puts money into the collection wallet directly (protocol §2.4). */
  deposit(request: unknown): void;
  /** Switches a payment option on or off, or changes its limits; effective immediately, in /data/… too. */
  changeProvider(request: unknown): SandboxProvider;
  changeBank(request: unknown): PayoutBank;
  settings(): SettingsRecord;
  /** Refuses addresses that could not be used. */
  change(settings: Partial<SettingsRecord>): void;
  readonly deliveries: Deliveries;
  /** The outcome of an attempt: likely cause and fix. */
  outcomeOf(delivery: DeliveryRecord, attempt: DeliveryAttempt): AttemptOutcome;
  /** A delivery, in the form for programs. */
  view(delivery: DeliveryRecord): SandboxDelivery;
  /** Posts genuine and wrong callbacks to an address, keeps the report and returns it. */
  check(request: unknown): Promise<CheckReport>;
  /** Resends a delivery unchanged, starting with its first attempt. */
  resend(deliveryId: number): DeliveryRecord;
  /** Resends these deliveries unchanged; those that were resent already are left out. */
  resendEach(deliveries: readonly DeliveryRecord[]): DeliveryRecord[];
  /** Which of these deliveries have ended, and were not resent. */
  resendable(deliveries: readonly DeliveryRecord[]): DeliveryRecord[];
  /** Resends what has been given up since then and not yet resent. */
  resendFailed(request: unknown): DeliveryRecord[];
  /** Sends the callback of a transaction, or what a delivery sent, with changes; returns it and its copies. */
  compose(id: number, request: unknown): DeliveryRecord[];
  /** Shows what `compose` would send. */
  preview(id: number, request: unknown): CallbackPreview;
  /**
   * Makes everything that is delayed, held back or waiting for a retry due now, or one such delivery. Returns the number of
   * deliveries.
   */
  release(id?: number): number;
  /** The signed address to which the customer's browser returns, or undefined while nothing is decided. */
  redirectOf(transaction: TransactionRecord): string | undefined;
  /** Moves the sandbox's clock ahead: what becomes due is cleared and sent. */
  advance(request: unknown): void;
  /** Resets everything except the keys and the addresses. Numbers continue. */
  reset(): void;
}

/** The settings of a new sandbox, and after a reset. */
const initialSettings: SettingsRecord = {
  clockOffset: 0,
  misbehave: {},
  retry: {},
  callback_url: null,
  redirect_url: null,
  order_url: null,
  inbox_url: null,
  api_latency_ms: 0,
  api_error: null,
};

const resendableIn = (reader: Reader, deliveries: readonly DeliveryRecord[]): DeliveryRecord[] => {
  const asked = new Set(deliveries.map(({ id }) => id));
  return newestDeliveries(reader).filter(({ id, state }) => asked.has(id) && state !== 'scheduled');
};

/** The records that a reset keeps. */
const KEPT: readonly string[] = ['account', 'settings', 'counter'];

/**
 * @param options `settings` replace the stored ones; the others stay as they are. `providers`: the payment options, in place of the
 * stored or the built-in ones.
 */
export function createService(
  context: Context,
  options: { settings: GivenSettings; providers: readonly SandboxProvider[] | undefined },
): Service {
  const { store, clock } = context;
  const deliveries = createDeliveries(context);
  const given = Object.fromEntries(
    Object.entries(options.settings).filter(([, value]) => value !== undefined),
  );
  const at = <T extends Reader>(reader: T): T & Moment => ({ ...context, ...reader, now: clock.now() });

  /** One unit of work: what is due is cleared first, and callbacks start when everything is saved. */
  const act = <T>(does: (work: Work) => T): T => {
    const result = store.write((unit) => {
      const work = at(unit);
      clear(work);
      return does(work);
    });
    deliveries.pump();
    return result;
  };

  const found = <T>(value: T | undefined, what: string): T => {
    if (value === undefined) refuse('not_found', `There is no such ${what}.`);
    return value;
  };

  const prepare = (unit: Unit): void => {
    if (options.providers !== undefined || unit.list('provider').length === 0)
      putProviders(unit, options.providers ?? defaultProviders);
    for (const { option } of unit.list('provider')) openWallets(unit, option.transaction_currency);
    const stored = unit.get('settings', 'settings');
    unit.put('settings', 'settings', { ...initialSettings, ...stored, ...given });
  };

  const settings = (): SettingsRecord => found(store.get('settings', 'settings'), 'setting');
  const change = (changes: Partial<SettingsRecord>): void => {
    const { callback_url = null, redirect_url = null } = changes;
    if (callback_url !== null) checkDestination(callback_url, context.allowedHosts);
    if (redirect_url !== null) checkRedirect(redirect_url);
    act((work) => work.put('settings', 'settings', { ...settings(), ...changes }));
  };
  store.write(prepare);

  return {
    ...context,
    deliveries,
    settings,
    collect: (request) => act((work) => startTransaction(work, 'COLLECTION', read('collection', request))),
    payout: (request) => act((work) => startTransaction(work, 'PAYOUT', read('payout', request))),
    transfer: (request) => act((work) => makeTransfer(work, read('transfer', request))),
    decide: (id, request) => {
      const { outcome } = read('outcome', request);
      return act((work) => decide(work, found(work.get('transaction', id), 'transaction'), outcome));
    },
    transaction: (id) => found(store.get('transaction', id), 'transaction'),
    wallets: (currency) => act((work) => listWallets(work, currency)),
    change,
    advance: (request) => {
      const ahead = read('clock', request).advance_seconds * 1000;
      change({ clockOffset: settings().clockOffset + ahead });
      act(() => undefined);
    },
    resend: (deliveryId) =>
      act((work) => {
        const { state } = found(work.get('delivery', deliveryId), 'delivery');
        if (state === 'scheduled') refuse('already_scheduled', 'This delivery is already scheduled.');
        return found(compose(work, deliveryId, unchanged)[0], 'delivery');
      }),
    resendEach: (deliveries) =>
      act((work) => resendableIn(work, deliveries).flatMap(({ id }) => compose(work, id, unchanged))),
    resendable: (deliveries) => resendableIn(store, deliveries),
    resendFailed: (request) => {
      const { since } = read('since', request);
      return act((work) => failedSince(work, since).flatMap(({ id }) => compose(work, id, unchanged)));
    },
    compose: (id, request) => act((work) => compose(work, id, read('composition', request))),
    preview: (id, request) => preview(at(store), id, read('composition', request)),
    deposit: (request) => act((work) => makeDeposit(work, read('transfer', request))),
    changeProvider: (request) => act((work) => changeProvider(work, read('provider', request))),
    changeBank: (request) => act((work) => changeBank(work, read('bank', request))),
    outcomeOf: (delivery, attempt) => outcomeOf(context, delivery, attempt),
    view: (delivery) => viewDelivery(context, delivery),
    check: async (request) =>
      checkEndpoint(read('check', request).callback_url ?? settings().callback_url, context),
    release: (id) =>
      act((work) => {
        const { now } = work;
        const waiting = queuedDeliveries(work).filter(
          (one) => (id === undefined || one.id === id) && (one.dueAt === null || one.dueAt > now),
        );
        for (const one of waiting) putDelivery(work, { ...one, dueAt: now, after: null, held: false });
        return waiting.length;
      }),
    redirectOf: (transaction) => redirectOf(context, transaction),
    reset: () =>
      act((work) => {
        const { callback_url, redirect_url, order_url, inbox_url } = settings();
        const addresses = { callback_url, redirect_url, order_url, inbox_url };
        work.clear((kind) => !KEPT.includes(kind));
        prepare(work);
        work.put('settings', 'settings', { ...initialSettings, ...given, ...addresses });
      }),
  };
}
