import { ClosedError, ConfigurationError, createVerifier } from '@payment-service/core';
import {
  checkArgument,
  checkOptions,
  type OptionRule,
  type OptionRules,
  runHook,
} from '@payment-service/core/internal';
import { createApp } from './app.ts';
import { createSigner } from './deliveries/callback-data.ts';
import { createSender } from './deliveries/delivery-attempt.ts';
import type { Context } from './deliveries/unit-of-work.ts';
import { type Listening, listen } from './http/listen.ts';
import { checkSandboxOptions, type SandboxOptions } from './options.ts';
import type {
  CollectionRequest,
  Outcome,
  PayoutRequest,
  TransferRequest,
} from './service/request-schemas.ts';
import { createService, type Service } from './service/service.ts';
import {
  type SandboxDelivery,
  type SandboxTransaction,
  type SandboxTransfer,
  type StartedCollection,
  statementOf,
  viewDelivery,
  viewStarted,
  viewTransaction,
  viewTransfer,
} from './service/views.ts';
import { mintAccount, type SandboxAccount } from './state/account.ts';
import { type Clock, systemClock } from './state/clock.ts';
import { sqliteFile } from './state/files.ts';
import type { Composition } from './state/misbehaviour.ts';
import type { CheckReport, TransactionRecord } from './state/records.ts';
import { createChangeFeed, createStore, type Store } from './state/store.ts';

/** A running sandbox. */
export interface Sandbox {
  /** The whole service as a web-standard handler. It works without a socket, also as the `fetch` of `createClient`. */
  readonly fetch: (input: Request | URL | string, init?: RequestInit) => Promise<Response>;
  readonly account: SandboxAccount;
  /**
   * Serves the sandbox on a port. Node only.
   *
   * Beyond loopback, as containers need it, name the host (such as `0.0.0.0`) and list in `allowedHosts` the names that
   * requests come under. Anyone on that network can then read the keys and move the simulated money, and a warning says so.
   *
   * @param options `port`: 0 for a free one (`@default 0`). `host`: `@default '127.0.0.1'`.
   * @throws {ConfigurationError} If the host is not an address of this computer.
   * @throws {InvalidStateError} If the port is in use.
   * @throws {ClosedError} After `close()`.
   */
  listen(options?: { port?: number | undefined; host?: string | undefined }): Promise<Listening>;
  /** Starts a collection. Throws a SandboxRefusal if the sandbox refuses it. */
  collect(request: CollectionRequest): StartedCollection;
  /** Starts a payout. Throws a SandboxRefusal if the sandbox refuses it. */
  payout(request: PayoutRequest): { transaction: SandboxTransaction };
  /** Moves available money to the payout wallet. Throws a SandboxRefusal if there is not enough. */
  transfer(request: TransferRequest): { transfer: SandboxTransfer };
  /** Ends a pending transaction as the customer or the bank would. Throws a SandboxRefusal if it has already ended. */
  decide(id: number, outcome: Outcome): StartedCollection;
  /**
   * Sends the callback of a transaction, or what a delivery sent, with changes; returns it and its copies. Throws a
   * SandboxRefusal for an unknown number, or for changes that cannot be made.
   *
   * @param id The `id` of a transaction, from 1001, or of a delivery, from 1. No number is both.
   *
   * @example
   * sandbox.compose(transaction.id, { forged_amount: 1, t_offset_seconds: -3600 });
   */
  compose(id: number, changes: Composition): SandboxDelivery[];
  /** Puts money into the collection wallet directly (protocol §2.4). Throws a SandboxRefusal for another currency. */
  deposit(request: TransferRequest): void;
  /**
   * Posts about 20 genuine and wrong callbacks to an endpoint, each for at most 5 seconds, and reports how it treats them.
   * Wallets and transactions are not changed.
   *
   * @param callbackUrl `@default` the sandbox's own callback URL.
   * @throws {SandboxRefusal} for an address to which callbacks may not be sent, or if there is none.
   *
   * @example
   * const { ok, results } = await sandbox.check('http://127.0.0.1:3000/callbacks');
   * expect(results.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
   */
  check(callbackUrl?: string): Promise<CheckReport>;
  /**
   * The decided transactions as CSV, as `GET /sandbox/statement` sends them. Its columns are simulated: a statement of the
   * service is not shown.
   */
  statement(): string;
  /** Every callback that was sent or is scheduled, oldest first, with all attempts. */
  deliveries(): SandboxDelivery[];
  /** Moves the sandbox's clock ahead: what becomes due is cleared and sent, without waiting. */
  advance(seconds: number): void;
  /** Resolves when every callback is delivered or given up. */
  idle(): Promise<void>;
  /** Stops listening and waiting, lets deliveries in flight finish, and closes the file. Safe to call twice. */
  close(): Promise<void>;
  /** As `close()`, for `await using sandbox = createSandbox()`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The whole payment service, inside this process: the three endpoints of the contract, simulated collections, payouts and
 * transfers, and signed callbacks and redirects that misbehave on request.
 *
 * @throws {ConfigurationError} If an option is wrong or unknown, or NODE_ENV is neither `development`, `test` nor unset.
 * @throws {InvalidStateError} If the file cannot be opened, is in use, or is not one of this version of the sandbox.
 *
 * @example
 * const sandbox = createSandbox({ callbackUrl: 'http://127.0.0.1:3000/callbacks' });
 * const { url } = await sandbox.listen();
 * sandbox.collect({
 *   merchant_reference: 'ORD-1', amount: 500, currency: 'UGX',
 *   provider_code: 'example_mobile_money', account: '256772000001',
 * });
 * await sandbox.idle();
 * await sandbox.close();
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const { settings, endpoints } = checkSandboxOptions(options);
  const systemTime = options.clock ?? systemClock;
  const hook = options.onError ?? console.error;
  const onError = (error: unknown): void => runHook(() => hook(error), console.error);
  const changes = createChangeFeed(systemTime.now(), onError);
  const persistence = options.file === undefined ? undefined : sqliteFile(options.file);
  const store = createStore(persistence, changes.announce);
  const seed = seedOf(store, options);
  const account = mintAccount(seed);
  const clock: Clock = {
    now: () => systemTime.now() + (store.get('settings', 'settings')?.clockOffset ?? 0),
    sleep: systemTime.sleep,
  };
  const sign = createSigner(account.signingKey, seed, options.timestampUnit ?? 'seconds');
  const { allowedHosts = [], colonIn, providers } = options;
  const context: Context = {
    store,
    clock,
    changes,
    seed,
    account,
    allowedHosts,
    colonIn,
    sign,
    // It judges the sandbox's own previews and serves no customer, so it needs no NODE_ENV.
    verifier: createVerifier({ signingKey: account.signingKey, colonIn, allowSandboxKeys: true }),
    sender: createSender(options.fetch),
    timeoutMs: options.deliveryTimeoutMs ?? 10_000,
    onAttempt: (delivery) => runHook(() => options.onAttempt?.(viewDelivery(context, delivery)), onError),
    onError,
  };
  const service = createService(context, { settings, providers });
  const { deliveries } = service;
  const app = createApp(service, endpoints);
  // Delivers what a killed process left undelivered.
  deliveries.pump();

  const listening = new Set<Listening>();
  let closing: Promise<void> | undefined;
  const open = (): Service => {
    if (closing !== undefined) throw new ClosedError('The sandbox is closed. Create another one.');
    return service;
  };
  const started = (transaction: TransactionRecord): StartedCollection => {
    const [server] = listening;
    return viewStarted(service, transaction, server?.url ?? 'http://127.0.0.1');
  };
  const close = (): Promise<void> => {
    closing ??= (async () => {
      // First, since a server ends with its last request, which may be delayed.
      changes.end();
      const servers = [...listening].map((server) => server.close());
      await deliveries.close();
      await Promise.all(servers);
      store.close();
    })();
    return closing;
  };
  return {
    account,
    fetch: async (input, init) => {
      open();
      const response = await app.fetch(new Request(input, init));
      if (response.type === 'error') throw new TypeError('The connection was cut.');
      return response;
    },
    listen: async (options = {}) => {
      checkOptions('listen()', options, LISTEN_RULES);
      const { port = 0, host = '127.0.0.1' } = options;
      open();
      const server = await listen(app.fetch, port, host);
      listening.add(server);
      const close = async (): Promise<void> => {
        listening.delete(server);
        await server.close();
      };
      // The sandbox was closed while the port was being opened.
      if (closing !== undefined) await close();
      open();
      return { ...server, close };
    },
    collect: (request) => started(open().collect(request)),
    payout: (request) => ({ transaction: viewTransaction(open().payout(request)) }),
    transfer: (request) => ({ transfer: viewTransfer(open().transfer(request)) }),
    decide: (id, outcome) => started(open().decide(id, { outcome })),
    compose: (id, changes) => {
      checkArgument('compose()', 'id', id, ID);
      return open().compose(id, changes).map(service.view);
    },
    deposit: (request) => open().deposit(request),
    check: async (callbackUrl) => open().check({ callback_url: callbackUrl }),
    statement: () => statementOf(open().store.list('transaction')),
    deliveries: () => open().store.list('delivery').map(service.view),
    advance: (seconds) => open().advance({ advance_seconds: seconds }),
    idle: () => deliveries.idle(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const ID: OptionRule = [Number.isInteger, 'the id of a transaction or a delivery'];
const LISTEN_RULES: OptionRules<NonNullable<Parameters<Sandbox['listen']>[0]>> = {
  port: [Number.isInteger, 'a port, or 0 for a free one'],
  host: [(value) => typeof value === 'string', 'an address of this computer'],
};

/** The seed of the account: the one in the file, the one given, or a random one. */
function seedOf(store: Store, { seed: given, file }: SandboxOptions): string {
  const stored = store.get('account', 'account')?.seed;
  if (stored !== undefined && given !== undefined && stored !== given) {
    store.close();
    const message = `The file ${file} contains an account with another seed. Leave the seed out, or choose another file.`;
    throw new ConfigurationError('seed', message);
  }
  const seed = stored ?? given ?? crypto.randomUUID();
  if (stored === undefined) store.write((unit) => unit.put('account', 'account', { seed }));
  return seed;
}
