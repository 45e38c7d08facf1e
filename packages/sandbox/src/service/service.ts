import type { PayoutBank, Wallet } from '@payment-service/core/client';
import type { Outcome as AttemptOutcome } from '@payment-service/core/explain';
import { type CheckContext, checkEndpoint } from '../check/check.ts';
import { callbackData, redirectLocation, signedFieldsOf } from '../deliveries/callback-data.ts';
import {
  type CallbackPreview,
  type ComposeContext,
  compose,
  failedSince,
  preview,
  scheduleDeliveries,
  unchanged,
} from '../deliveries/compose.ts';
import { genuineContent } from '../deliveries/content.ts';
import type { Deliveries } from '../deliveries/deliveries.ts';
import { putDelivery, queuedDeliveries } from '../deliveries/deliveries.ts';
import { outcomeOf } from '../deliveries/outcome.ts';
import { checkDestination } from '../state/hosts.ts';
import type { ComposedChanges } from '../state/misbehaviour.ts';
import type {
  CheckReport,
  DeliveryAttempt,
  DeliveryRecord,
  Kind,
  RequestRecord,
  SandboxProvider,
  Settings,
  SettingsRecord,
  TransactionRecord,
  TransferRecord,
} from '../state/records.ts';
import { refuse } from '../state/refusal.ts';
import type { Changes } from '../state/store.ts';
import { kinds, type Store, type Unit } from '../state/store.ts';
import { clear, listWallets, openWallets, type Release, waitingEntries } from './ledger.ts';
import {
  type BankChange,
  changeBank,
  changeProvider,
  defaultProviders,
  type ProviderChange,
  putProviders,
} from './providers.ts';
import type { CollectionRequest, Outcome, PayoutRequest, TransferRequest } from './requests.ts';
import { checkRedirect, type TransactionRules } from './transaction-checks.ts';
import { decide, makeDeposit, makeTransfer, startCollection, startPayout } from './transactions.ts';
import { type SandboxDelivery, viewDelivery } from './views.ts';

export interface ServiceOptions extends ComposeContext, CheckContext {
  readonly rules: TransactionRules;
  readonly deliveries: Deliveries;
  /** Settings that replace the stored ones; the others stay as they are. */
  readonly settings: Partial<Settings>;
  /** The payment options, in place of the stored or the built-in ones. */
  readonly providers: readonly SandboxProvider[] | undefined;
}

/** The simulated payment service: what the pages, the HTTP API and the in-process functions all call. */
export interface Service {
  readonly rules: TransactionRules;
  readonly store: Store;
  collect(request: CollectionRequest): TransactionRecord;
  payout(request: PayoutRequest): TransactionRecord;
  transfer(request: TransferRequest): TransferRecord;
  /** Ends a pending transaction. */
  decide(id: number, outcome: Outcome): TransactionRecord;
  transaction(id: number): TransactionRecord;
  wallets(currency?: string): Wallet[];
  /** Releases what is due, and what `early` names; returns how many parts became available. */
  clear(early?: Release): number;
  /** Puts money into the collection wallet directly (protocol §2.4). */
  deposit(request: TransferRequest): void;
  /** The payment options as they are now, with their banks. */
  providers(): SandboxProvider[];
  /** Switches a payment option on or off, or changes its limits; effective immediately, in /data/… too. */
  changeProvider(change: ProviderChange): SandboxProvider;
  changeBank(change: BankChange): PayoutBank;
  settings(): SettingsRecord;
  /** Refuses addresses that could not be used. */
  change(settings: Partial<SettingsRecord>): SettingsRecord;
  /** For live pages. */
  readonly changes: Changes;
  /** The outcome of an attempt: likely cause and fix. */
  outcomeOf(delivery: DeliveryRecord, attempt: DeliveryAttempt): AttemptOutcome;
  /** A delivery as programs see it. */
  view(delivery: DeliveryRecord): SandboxDelivery;
  /** Logs a call to the API; the newest 500 are kept. */
  logRequest(request: Omit<RequestRecord, 'id'>): void;
  /** Writes down that the customer's browser was sent back to the merchant. */
  logRedirect(id: number, location: string, status: number): void;
  /** Posts genuine and wrong callbacks to an address, keeps the report and returns it. */
  check(callbackUrl: string | undefined): Promise<CheckReport>;
  /** Sends a delivery again, unchanged, from its first attempt on. */
  resend(deliveryId: number): DeliveryRecord;
  /** Sends again what was given up since then (milliseconds since the epoch) and not sent again yet. */
  resendFailed(since: number): DeliveryRecord[];
  /** Sends the callback of a transaction, or what a delivery sent, with changes; returns it and its copies. */
  compose(id: number, changes: ComposedChanges): DeliveryRecord[];
  /** Shows what `compose` would send. */
  preview(id: number, changes: ComposedChanges): CallbackPreview;
  /** Makes due what is late, held back or waiting for a retry: all of it, or one delivery. Returns the number of deliveries. */
  release(id?: number): number;
  /** The signed address that the customer's browser goes back to, or undefined while nothing is decided. */
  redirectOf(transaction: TransactionRecord): string | undefined;
  /** Resolves when the callbacks of a transaction have been tried, unless they are scheduled for later. */
  callbackTried(transaction: TransactionRecord): Promise<void>;
  now(): number;
  /** Resolves after so many milliseconds, or when the sandbox is closed. */
  sleep(ms: number): Promise<void>;
  /** Moves the sandbox's clock ahead: what becomes due clears and is sent. */
  advance(seconds: number): void;
  /** Puts everything back but the keys and the addresses. Numbers go on. */
  reset(): void;
}

/** The settings of a new sandbox, and of one that was reset. */
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

const CALLBACK_BEFORE_REDIRECT_MS = 5000;
const MAX_REQUESTS = 500;
/** What a reset leaves. */
const KEPT: readonly Kind[] = ['account', 'settings', 'counter'];

export function createService(options: ServiceOptions): Service {
  const { store, clock, rules, sign, deliveries } = options;

  /** One unit of work: what is due clears first, and callbacks start when everything is saved. */
  const act = <T>(work: (unit: Unit, now: number) => T): T => {
    const result = store.write((unit) => {
      const now = clock.now();
      clear(unit, now);
      return work(unit, now);
    });
    deliveries.pump();
    return result;
  };

  const end = (
    unit: Unit,
    transaction: TransactionRecord,
    outcome: Outcome,
    now: number,
  ): TransactionRecord => {
    const decided = decide(unit, transaction, outcome, now);
    const { callbackUrl: url, misbehave: changes, retry } = decided;
    const base = genuineContent(decided, sign, now);
    if (url !== null) {
      scheduleDeliveries(unit, { transaction: decided, base, changes, url, retry, origin: null }, sign, now);
    }
    return decided;
  };

  const begin = (
    unit: Unit,
    transaction: TransactionRecord,
    { outcome = 'completed' }: { readonly outcome?: Outcome | undefined },
    now: number,
  ): TransactionRecord =>
    transaction.mode === 'direct' ? end(unit, transaction, outcome, now) : transaction;

  const found = <T>(value: T | undefined, what: string): T => {
    if (value === undefined) refuse('not_found', `There is no such ${what}.`);
    return value;
  };

  const prepare = (unit: Unit): void => {
    const hasProviders = unit.list('provider').length > 0;
    if (options.providers !== undefined || !hasProviders) {
      putProviders(unit, options.providers ?? defaultProviders);
    }
    for (const { option } of unit.list('provider')) openWallets(unit, option.transaction_currency);
    unit.put('settings', 'settings', {
      ...initialSettings,
      ...unit.get('settings', 'settings'),
      ...options.settings,
    });
  };

  const settings = (): SettingsRecord => found(store.get('settings', 'settings'), 'setting');
  const change = (changes: Partial<SettingsRecord>): SettingsRecord => {
    if (typeof changes.callback_url === 'string') checkDestination(changes.callback_url, rules.allowedHosts);
    if (typeof changes.redirect_url === 'string') checkRedirect(changes.redirect_url);
    return act((unit) => {
      const changed = { ...settings(), ...changes };
      unit.put('settings', 'settings', changed);
      return changed;
    });
  };
  store.write(prepare);

  const outcome: Service['outcomeOf'] = (delivery, attempt) =>
    outcomeOf(delivery, attempt, store.get('transaction', delivery.transactionId), {
      signingKey: options.signingKey,
      callbackUrl: settings().callback_url,
    });
  return {
    rules,
    store,
    changes: options.changes,
    settings,
    now: () => clock.now(),
    sleep: (ms) => clock.sleep(ms, options.changes.ended),
    collect: (request) =>
      act((unit, now) => begin(unit, startCollection(unit, rules, request, now), request, now)),
    payout: (request) =>
      act((unit, now) => begin(unit, startPayout(unit, rules, request, now), request, now)),
    transfer: (request) => act((unit, now) => makeTransfer(unit, request, now)),
    decide: (id, outcome) =>
      act((unit, now) => end(unit, found(unit.get('transaction', id), 'transaction'), outcome, now)),
    transaction: (id) => found(store.get('transaction', id), 'transaction'),
    wallets: (currency) => {
      if (waitingEntries(store).some(({ freeAt }) => (freeAt ?? 0) <= clock.now())) act(() => undefined);
      return listWallets(store, currency);
    },
    clear: (early) => store.write((unit) => clear(unit, clock.now(), early)),
    change,
    advance: (seconds) => {
      const { clockOffset } = settings();
      change({ clockOffset: clockOffset + seconds * 1000 });
      act(() => undefined);
    },
    resend: (deliveryId) =>
      act((unit, now) => {
        const { state } = found(unit.get('delivery', deliveryId), 'delivery');
        if (state === 'scheduled') {
          refuse('already_scheduled', 'This delivery is already scheduled.');
        }
        return found(compose(unit, options, deliveryId, unchanged, now)[0], 'delivery');
      }),
    resendFailed: (since) =>
      act((unit, now) =>
        failedSince(unit, since).flatMap(({ id }) => compose(unit, options, id, unchanged, now)),
      ),
    compose: (id, changes) => act((unit, now) => compose(unit, options, id, changes, now)),
    preview: (id, changes) => preview(store, options, id, changes, clock.now()),
    deposit: (request) => act((unit, now) => makeDeposit(unit, request, now)),
    providers: () => store.list('provider'),
    changeProvider: (change) => act((unit) => changeProvider(unit, change)),
    changeBank: (change) => act((unit) => changeBank(unit, change)),
    outcomeOf: outcome,
    view: (delivery) => viewDelivery(delivery, outcome),
    logRequest: (request) =>
      store.note((unit) => {
        const id = unit.nextId('request');
        unit.put('request', id, { id, ...request });
        for (const old of unit.list('request').slice(0, -MAX_REQUESTS)) unit.remove('request', old.id);
      }),
    check: (callbackUrl) => checkEndpoint(callbackUrl ?? settings().callback_url, options),
    logRedirect: (id, location, status) =>
      store.write((unit) => {
        const transaction = found(unit.get('transaction', id), 'transaction');
        const redirects = [...transaction.redirects, { at: clock.now(), location, status }];
        unit.put('transaction', id, { ...transaction, redirects });
      }),
    release: (id) =>
      act((unit, now) => {
        const waiting = queuedDeliveries(unit).filter(
          (one) => (id === undefined || one.id === id) && (one.dueAt === null || one.dueAt > now),
        );
        for (const one of waiting) putDelivery(unit, { ...one, dueAt: now, after: null, held: false });
        return waiting.length;
      }),
    redirectOf: (transaction) => {
      const { redirectUrl, decidedAt } = transaction;
      if (redirectUrl === null || decidedAt === null) return undefined;
      const data = callbackData(transaction);
      return redirectLocation(redirectUrl, data, sign(signedFieldsOf(data), decidedAt));
    },
    callbackTried: async ({ id, misbehave }) => {
      const isLater = misbehave.redirect_first || misbehave.out_of_order || (misbehave.late_ms ?? 0) > 0;
      if (!isLater) await deliveries.tried(id, CALLBACK_BEFORE_REDIRECT_MS);
    },
    reset: () =>
      act((unit) => {
        const { callback_url, redirect_url, order_url, inbox_url } = settings();
        const addresses = { callback_url, redirect_url, order_url, inbox_url };
        for (const kind of kinds) if (!KEPT.includes(kind)) unit.clear(kind);
        prepare(unit);
        unit.put('settings', 'settings', { ...initialSettings, ...options.settings, ...addresses });
      }),
  };
}
