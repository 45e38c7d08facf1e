import type { Wallet } from '@payment-service/core/client';
import { callbackData, redirectLocation } from '../deliveries/callback-data.ts';
import { type Signer, scheduleCallbacks } from '../deliveries/callbacks.ts';
import type { Deliveries } from '../deliveries/deliveries.ts';
import { putDelivery, queuedDeliveries } from '../deliveries/delivery-queue.ts';
import type { Clock } from '../state/clock.ts';
import type {
  DeliveryRecord,
  Kind,
  SettingsRecord,
  TransactionRecord,
  TransferRecord,
} from '../state/records.ts';
import type { Store, Unit } from '../state/store.ts';
import { clear, listWallets, openWallets, type Release } from './ledger.ts';
import { SandboxRefusal } from './refusal.ts';
import type { CollectionRequest, Outcome, PayoutRequest, TransferRequest } from './requests.ts';
import type { TransactionRules } from './transaction-checks.ts';
import { decide, makeTransfer, startCollection, startPayout } from './transactions.ts';

export interface ServiceOptions {
  readonly store: Store;
  /** The sandbox's clock, with what it was moved ahead. */
  readonly clock: Clock;
  readonly rules: TransactionRules;
  readonly sign: Signer;
  readonly deliveries: Deliveries;
  readonly settings: Partial<Pick<SettingsRecord, 'misbehave' | 'retry'>>;
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
  /** Releases what is due, and what `early` names; answers how many parts became available. */
  clear(early?: Release): number;
  settings(): SettingsRecord;
  change(settings: Partial<SettingsRecord>): SettingsRecord;
  /** Sends a delivery once more, from its first attempt on. */
  resend(deliveryId: number): DeliveryRecord;
  /** Makes everything due that is late, held back or waiting for a retry; answers how many deliveries that were. */
  release(): number;
  /** The signed address that the customer's browser goes back to, or undefined while nothing is decided. */
  redirectOf(transaction: TransactionRecord): string | undefined;
  /** Resolves when the callbacks of a transaction have been tried, unless they are told to come later. */
  callbackTried(transaction: TransactionRecord): Promise<void>;
  now(): number;
  /** Moves the sandbox's clock ahead: what becomes due clears and is sent. */
  advance(seconds: number): void;
  /** Empties wallets, transactions and deliveries. Keys stay, and numbers go on. */
  reset(): void;
}

const CALLBACK_BEFORE_REDIRECT_MS = 5000;
const emptied: readonly Kind[] = [
  'wallet',
  'lot',
  'spent',
  'transaction',
  'transfer',
  'delivery',
  'queued',
  'settings',
];

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
    const decided = decide(unit, rules, transaction, outcome, now);
    scheduleCallbacks(unit, decided, sign, now);
    return decided;
  };

  const found = <T>(value: T | undefined, what: string): T => {
    if (value === undefined) throw new SandboxRefusal(404, 'not_found', `There is no such ${what}.`);
    return value;
  };

  const prepare = (unit: Unit): void => {
    for (const { option } of rules.providers) openWallets(unit, option.transaction_currency);
    const stored = unit.get('settings', 'settings') ?? { clockOffset: 0, misbehave: {}, retry: {} };
    unit.put('settings', 'settings', { ...stored, ...options.settings });
  };

  const settings = (): SettingsRecord => found(store.get('settings', 'settings'), 'setting');
  const change = (changes: Partial<SettingsRecord>): SettingsRecord =>
    act((unit) => {
      const changed = { ...found(unit.get('settings', 'settings'), 'setting'), ...changes };
      unit.put('settings', 'settings', changed);
      return changed;
    });
  store.write(prepare);

  return {
    rules,
    store,
    settings,
    now: () => clock.now(),
    collect: (request) =>
      act((unit, now) => {
        const transaction = startCollection(unit, rules, request, now);
        const { mode } = transaction;
        return mode === 'direct' ? end(unit, transaction, request.outcome ?? 'completed', now) : transaction;
      }),
    payout: (request) =>
      act((unit, now) => {
        const transaction = startPayout(unit, rules, request, now);
        const { mode } = transaction;
        return mode === 'direct' ? end(unit, transaction, request.outcome ?? 'completed', now) : transaction;
      }),
    transfer: (request) => act((unit, now) => makeTransfer(unit, request, now)),
    decide: (id, outcome) =>
      act((unit, now) => end(unit, found(unit.get('transaction', id), 'transaction'), outcome, now)),
    transaction: (id) => found(store.get('transaction', id), 'transaction'),
    wallets: (currency) => {
      if (store.list('lot').some(({ dueAt }) => dueAt <= clock.now())) act(() => undefined);
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
        const delivery = found(unit.get('delivery', deliveryId), 'delivery');
        if (delivery.state === 'scheduled') {
          throw new SandboxRefusal(409, 'already_scheduled', 'This delivery is on its way already.');
        }
        const again: DeliveryRecord = {
          ...delivery,
          id: unit.nextId(),
          copy: delivery.copy + 1,
          misbehaves: [...delivery.misbehaves, `sent again after ${delivery.id}`],
          state: 'scheduled',
          dueAt: now,
          attempts: [],
        };
        putDelivery(unit, again);
        return again;
      }),
    release: () =>
      act((unit, now) => {
        const waiting = queuedDeliveries(unit).filter(({ dueAt }) => dueAt === null || dueAt > now);
        for (const one of waiting) putDelivery(unit, { ...one, dueAt: now, after: null, held: false });
        return waiting.length;
      }),
    redirectOf: (transaction) => {
      const { redirectUrl, decidedAt } = transaction;
      if (redirectUrl === null || decidedAt === null) return undefined;
      const data = callbackData(transaction);
      return redirectLocation(redirectUrl, data, sign(data, { now: decidedAt }));
    },
    callbackTried: async ({ id, misbehave }) => {
      const comesLater = misbehave.redirect_first || misbehave.out_of_order || (misbehave.late_ms ?? 0) > 0;
      if (!comesLater) await deliveries.tried(id, CALLBACK_BEFORE_REDIRECT_MS);
    },
    reset: () =>
      act((unit) => {
        for (const kind of emptied) unit.clear(kind);
        prepare(unit);
      }),
  };
}
