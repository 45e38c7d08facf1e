import { ConfigurationError } from '@payment-service/core';
import {
  checkOptions,
  environmentVariable,
  FUNCTION,
  notDevelopment,
  type OptionRules,
} from '@payment-service/core/internal';
import { redirectProblem } from './deliveries/callback-data.ts';
import { checkEndpoints, type Endpoint, type SandboxEndpoint } from './service/endpoints.ts';
import { type Requests, read } from './service/request-schemas.ts';
import { checkProviders, defaultProviders } from './service/simulated-providers.ts';
import type { SandboxDelivery } from './service/views.ts';
import type { Clock } from './state/clock.ts';
import { checkAllowedHosts, destinationProblem } from './state/hosts.ts';
import type { Misbehaviour } from './state/misbehaviour.ts';
import type { GivenSettings, SandboxProvider } from './state/records.ts';
import { SandboxRefusal } from './state/refusal.ts';
import type { RetrySettings } from './state/retries.ts';

/** Options of `createSandbox()`. An unknown option throws at construction. */
export interface SandboxOptions {
  /** The same seed gives the same keys and references. @default random */
  readonly seed?: string | undefined;
  /** Keeps the state in this SQLite file, so that it survives restarts and kills. Node only. @default in memory */
  readonly file?: string | undefined;
  /** Where callbacks are sent if the collection or payout names no `callback_url`. @default the one in the file */
  readonly callbackUrl?: string | undefined;
  /**
   * Where the customer's browser goes back to when a collection names no `redirect_url`.
   *
   * @default the one in the file
   */
  readonly redirectUrl?: string | undefined;
  /**
   * Hosts beyond this computer, as `host` or `host:port`: callbacks may go to them, and the sandbox answers requests
   * under their names.
   *
   * @default []
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** The default misbehaviour of callbacks. `misbehave` in a request replaces it. */
  readonly misbehave?: Misbehaviour | undefined;
  /**
   * The default rule for resending callbacks, such as `{ preset: 'below-500', max_attempts: 3 }`.
   *
   * @default `{ preset: 'not-2xx' }` with 5 attempts
   */
  readonly retry?: RetrySettings | undefined;
  /** The unit of `t` in signatures. The service's unit is not shown. @default 'seconds' */
  readonly timestampUnit?: 'seconds' | 'milliseconds' | undefined;
  /** The verifier's own option: allows ':' in merchant references. */
  readonly colonIn?: 'merchant_reference' | undefined;
  /** How long a receiver may take to answer, in milliseconds. @default 10000 */
  readonly deliveryTimeoutMs?: number | undefined;
  /** The payment options, instead of those in the file and the built-in ones. */
  readonly providers?: readonly SandboxProvider[] | undefined;
  /**
   * Endpoints of the merchant's own contract, below the address of the sandbox: they start simulated collections, payouts and
   * transfers, and fail on request. `exampleEndpoints` shows the shape.
   *
   * @default []
   */
  readonly endpoints?: readonly SandboxEndpoint[] | undefined;
  /** The `fetch` that sends callbacks. @default Node's HTTP client; elsewhere, the platform's `fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly clock?: Clock | undefined;
  /**
   * Called after each attempt of a delivery, which is the last of its `attempts`: for a log of what was sent, what was answered
   * and why. What it throws goes to `onError`, and changes nothing.
   *
   * @default nothing is called
   *
   * @example
   * createSandbox({ onAttempt: ({ signed, attempts }) =>
   *   console.log(signed.merchant_reference, attempts.at(-1)?.outcome.title) });
   */
  readonly onAttempt?: ((delivery: SandboxDelivery) => unknown) | undefined;
  /** Called with failures of the sandbox itself, such as a full disk. @default console.error */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

/** Most values are checked where they are read. */
const OPTIONS: OptionRules<SandboxOptions> = {
  seed: [(value) => typeof value === 'string', 'a string'],
  file: undefined,
  callbackUrl: undefined,
  redirectUrl: undefined,
  allowedHosts: undefined,
  misbehave: undefined,
  retry: undefined,
  timestampUnit: undefined,
  colonIn: undefined,
  deliveryTimeoutMs: undefined,
  providers: undefined,
  endpoints: undefined,
  fetch: FUNCTION,
  clock: undefined,
  onAttempt: FUNCTION,
  onError: FUNCTION,
};

/**
 * Checks the options of a sandbox, at construction.
 *
 * @returns the settings that they replace, and the checked endpoints.
 * @throws {ConfigurationError} Names the option.
 */
export function checkSandboxOptions(options: SandboxOptions): {
  readonly settings: GivenSettings;
  readonly endpoints: readonly Endpoint[];
} {
  // Threat A27. With NODE_ENV unset, as on a developer's computer, the sandbox starts; a verifier then refuses its keys.
  const environment = environmentVariable('NODE_ENV');
  if (environment && notDevelopment() !== undefined) {
    const message = `The sandbox does not start with NODE_ENV=${environment}: its keys are refused there. Unset NODE_ENV, or run it with NODE_ENV=development, in a process that serves no customer.`;
    throw new ConfigurationError('NODE_ENV', message);
  }
  checkOptions('createSandbox()', options, OPTIONS);
  const { callbackUrl, redirectUrl, allowedHosts = [], seed } = options;
  if (seed === '')
    throw new ConfigurationError('seed', 'seed must not be empty. Leave it out for random keys.');
  checkAllowedHosts(allowedHosts);
  checkProviders(options.providers ?? defaultProviders);
  const problem = callbackUrl === undefined ? undefined : destinationProblem(callbackUrl, allowedHosts);
  if (problem !== undefined) throw new ConfigurationError('callbackUrl', `callbackUrl ${problem}.`);
  const wrong = redirectUrl === undefined ? undefined : redirectProblem(redirectUrl);
  if (wrong !== undefined) throw new ConfigurationError('redirectUrl', `redirectUrl ${wrong}.`);
  const settings = {
    callback_url: callbackUrl,
    redirect_url: redirectUrl,
    misbehave: configured('misbehave', 'misbehaviour', options.misbehave),
    retry: configured('retry', 'retry', options.retry),
  };
  return { settings, endpoints: checkEndpoints(options.endpoints) };
}

/** The same reader as for requests; a wrong option is a misconfiguration, not a refusal. */
function configured<Kind extends 'misbehaviour' | 'retry'>(
  option: string,
  kind: Kind,
  value: unknown,
): Requests[Kind] | undefined {
  try {
    return value === undefined ? undefined : read(kind, value);
  } catch (error) {
    if (!(error instanceof SandboxRefusal)) throw error;
    throw new ConfigurationError(option, `${option}: ${error.message}.`, { cause: error });
  }
}
