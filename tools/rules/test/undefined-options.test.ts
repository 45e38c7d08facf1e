import type { ExpectedAmount, UnavailableError, VerifierOptions } from '@payment-service/core';
import type {
  CacheOptions,
  CallOptions,
  ClientOptions,
  ConnectionError,
  PaymentProviderQuery,
  PayoutBankQuery,
  RequestOptions,
  WalletQuery,
} from '@payment-service/core/client';
import type { Exchange, ExplainedRequest, ExplainOptions } from '@payment-service/core/explain';
import type { Movement } from '@payment-service/core/reconcile';
import type { DeliveredReport, sampleCallback, signCallback } from '@payment-service/core/testing';
import type { CallbackOptions, RedirectOptions } from '@payment-service/fetch';
import type {
  AnyInbox,
  BalanceOptions,
  Expectation,
  Inbox,
  InboxOptions,
  PaymentFilter,
  postgres,
  StatementFormat,
  StatementOptions,
  StatementRow,
  sqlite,
} from '@payment-service/inbox';
import type { ConsoleOptions, wordsOf } from '@payment-service/inbox/console';
import type { LibraryOptions } from '@payment-service/inbox/kysely';
import type { prisma } from '@payment-service/inbox/prisma';
import type {
  CollectionRequest,
  Composition,
  Misbehaviour,
  PayoutRequest,
  RetrySettings,
  Sandbox,
  SandboxEndpoint,
  SandboxOptions,
  SandboxProvider,
} from '@payment-service/sandbox';
import { expectTypeOf, test } from 'vitest';

/** The members that may be left out and refuse undefined, under `exactOptionalPropertyTypes`. */
type Refusing<Options> = {
  [Name in keyof Options]-?: object extends Pick<Options, Name>
    ? undefined extends Required<Options>[Name]
      ? never
      : Name
    : never;
}[keyof Options];

/** The nth argument of a function. */
type Given<Call extends (...given: never[]) => unknown, At extends number> = NonNullable<
  Parameters<Call>[At]
>;

/** What a program builds and passes, by its name. */
interface Built {
  verifier: VerifierOptions;
  redirectFields: NonNullable<VerifierOptions['redirectFields']>;
  redirectDefaults: NonNullable<VerifierOptions['redirectDefaults']>;
  callbacks: CallbackOptions;
  redirects: RedirectOptions;
  amount: ExpectedAmount;
  unavailable: NonNullable<ConstructorParameters<typeof UnavailableError>[1]>;
  connection: NonNullable<ConstructorParameters<typeof ConnectionError>[1]>;
  /** Without its secret key: `undefined` is for the options with one, whose client has `getWalletBalances()`. */
  client: Omit<ClientOptions, 'secretKey'>;
  timing: NonNullable<ClientOptions['timing']>;
  cache: CacheOptions;
  call: CallOptions;
  request: RequestOptions;
  providers: PaymentProviderQuery;
  banks: PayoutBankQuery;
  wallets: WalletQuery;
  exchange: Exchange;
  explained: ExplainedRequest;
  explain: ExplainOptions;
  movement: Movement;
  report: DeliveredReport;
  sample: Given<typeof sampleCallback, 0>;
  signing: Given<typeof signCallback, 0>;
  inbox: InboxOptions<unknown>;
  retry: NonNullable<InboxOptions<unknown>['retry']>;
  expectation: Expectation;
  order: NonNullable<Expectation['order']>;
  expect: Given<Inbox<object>['expect'], 1>;
  handle: Given<Inbox<object>['handle'], 2>;
  work: Given<AnyInbox['work'], 0>;
  drain: Given<AnyInbox['drain'], 0>;
  health: Given<AnyInbox['health'], 0>;
  history: Given<AnyInbox['history'], 0>;
  prune: Given<AnyInbox['prune'], 0>;
  outcome: Given<AnyInbox['outcome'], 1>;
  reports: Given<AnyInbox['reports'], 0>;
  payments: PaymentFilter;
  act: Given<AnyInbox['act'], 1>;
  actAll: Given<AnyInbox['actAll'], 1>;
  balances: BalanceOptions;
  statement: StatementOptions;
  format: StatementFormat;
  row: StatementRow;
  postgres: Given<typeof postgres, 1>;
  sqlite: Given<typeof sqlite, 1>;
  prisma: Given<typeof prisma, 1>;
  library: LibraryOptions;
  console: ConsoleOptions;
  words: Given<typeof wordsOf, 0>;
  sandbox: SandboxOptions;
  listen: Given<Sandbox['listen'], 0>;
  collection: CollectionRequest;
  payout: PayoutRequest;
  misbehaviour: Misbehaviour;
  composition: Composition;
  resending: RetrySettings;
  provider: SandboxProvider;
  endpoint: SandboxEndpoint;
}

// A program passes on what it may not have; `pnpm typecheck` is the test.
test('everything that may be left out accepts undefined, and a member that refuses it is named (control)', () => {
  expectTypeOf<{ [Name in keyof Built]: Refusing<Built[Name]> }[keyof Built]>().toBeNever();
  expectTypeOf<Refusing<{ a?: string; b?: string | undefined; c: string }>>().toEqualTypeOf<'a'>();
});
