import { ConfigurationError, type SignedFields, type UnsignedFields } from '@payment-service/core';
import { checkOptions, type OptionRules, refuseArgument } from '@payment-service/core/internal';
import { BOOLEAN, NAME } from '../../option-rules.ts';
import type { Settings } from '../../options.ts';
import type { ExpectedMoney, KnownOrder, ReplacedMoney, Settled } from '../../verdict/evaluate.ts';
import type { PaymentKey } from '../../verdict/restate.ts';

const HANDLER_NAMES = ['paid', 'failed', 'reversed', 'status'] as const;

/**
 * What a handler is called for: `paid` for completed payments, `failed` and `reversed` for the statuses that the option `statuses`
 * gives this meaning, and `status` for every other one.
 */
export type HandlerName = (typeof HANDLER_NAMES)[number];

/** A payment as a handler gets it. */
export interface HandledPayment<N extends HandlerName = HandlerName> extends PaymentKey {
  /** What is expected; undefined if nothing is. */
  readonly expected: ExpectedMoney | undefined;
  /**
   * Your own amount, which a body equals: credit only this, and take back only this when it is reversed. Undefined for what is not
   * paid: a failure, or a reversal that arrived before its payment, which then waits for a person.
   */
  readonly settled: N extends 'paid' ? Settled : Settled | undefined;
  /**
   * The order that it belongs to, as stated to `expect()`. For `paid`, also how much of it is paid with this payment, exact: it
   * is paid in full once this equals the total.
   */
  readonly order:
    | (KnownOrder & { readonly paid: N extends 'paid' ? string : string | undefined })
    | undefined;
  /** What was expected before, the oldest first: a part that an operator accepted replaces the whole. */
  readonly replaced: readonly ReplacedMoney[];
}

/** What a handler gets. */
export interface Handled<Tx, N extends HandlerName = HandlerName> {
  /** Your library's transaction, which also settles the payment: effects in it happen exactly once. */
  readonly tx: Tx;
  readonly payment: HandledPayment<N>;
  /** The five strings that the signature proves, or those of the statement row that settled it. */
  readonly signed: SignedFields;
  /**
   * The other fields of the confirmed body, for a ledger: the charge, the provider. Nothing proves them, whether their content
   * was encrypted or not.
   */
  readonly claimed: UnsignedFields;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** 64 hexadecimal digits, the same for every attempt: an idempotency key for effects outside the database. */
  readonly id: string;
  /** Aborted after `handlerTimeoutMs`, when the attempt has failed and is retried later. */
  readonly signal: AbortSignal;
}

/** Which payments a handler is called for. */
export interface HandlerOptions {
  /** A signed transaction_type. @default every type without its own handler */
  readonly type?: string | undefined;
  /**
   * The `paid` handler changes nothing in its transaction, so this is not reported as a problem. @default false: probably a query
   * was not awaited, or matched no row
   */
  readonly changesNothing?: boolean | undefined;
}

const RULES: OptionRules<HandlerOptions> = { type: NAME, changesNothing: BOOLEAN };

/** How many runs of a handler are watched for changes, in each process: a mistake in a handler shows in every run. */
const WATCHED_RUNS = 20;

export interface Handler<Tx> {
  readonly run: (handled: Handled<Tx>) => unknown;
  /** Its name in messages. */
  readonly label: string;
  /** How many of its runs are still watched for changes. */
  watched: number;
  /** It was reported that it changed nothing. */
  isTold: boolean;
}

/** The handlers of an inbox, by type and name. */
export type Handlers<Tx> = Map<string, Handler<Tx>>;

/** @throws {ConfigurationError} If it is not a function with a known name, or another one has this name and type. */
export function addHandler<Tx>(
  handlers: Handlers<Tx>,
  name: HandlerName,
  run: unknown,
  options: HandlerOptions = {},
): void {
  if (!HANDLER_NAMES.includes(name))
    refuseArgument('handle()', 'name', `one of ${HANDLER_NAMES.join(', ')}`, name);
  if (typeof run !== 'function') refuseArgument('handle()', 'handler', 'a function', run);
  checkOptions('handle()', options, RULES);
  const key = keyOf(options.type ?? '*', name);
  if (handlers.has(key)) {
    throw new ConfigurationError('handler', `handle() already has a handler for ${name} and this type.`);
  }
  const { type, changesNothing } = options;
  handlers.set(key, {
    run: (handled) => Reflect.apply(run, undefined, [handled]),
    label: type === undefined ? `'${name}'` : `'${name}' and the type '${type}'`,
    isTold: false,
    watched: name === 'paid' && changesNothing !== true ? WATCHED_RUNS : 0,
  });
}

/** The handler for its type, or for every type. */
export function findHandler<Tx>(
  handlers: Handlers<Tx>,
  { transaction_type: type, transaction_status: status }: SignedFields,
  { statuses }: Pick<Settings, 'statuses'>,
): Handler<Tx> | undefined {
  const meaning = statuses[status] === 'interim' ? undefined : statuses[status];
  const name = status === 'COMPLETED' ? 'paid' : (meaning ?? 'status');
  return handlers.get(keyOf(type, name)) ?? handlers.get(keyOf('*', name));
}

function keyOf(type: string, name: HandlerName): string {
  return JSON.stringify([type, name]);
}
