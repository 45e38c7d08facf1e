import manifest from '../../../package.json' with { type: 'json' };
import { ConfigurationError, REFUSED_STATUSES } from '../../errors.ts';
import {
  BOOLEAN,
  checkKey,
  checkOptions,
  DURATION,
  FUNCTION,
  type OptionRules,
  RECORD,
  REQUIRED,
} from '../../options/options.ts';
import { runHook } from '../../reporting/hook.ts';
import type {
  CacheOptions,
  ClientOptions,
  ClientOptionsWithSecretKey,
  Deviation,
  Timing,
} from '../client.ts';
import { type BaseUrl, checkTls, parseBaseUrl } from './base-url.ts';
import { createScrubber, type Scrubber } from './scrubber.ts';

/** Options that have a value after the check: the caller's or the default. */
type Complete<Name extends keyof ClientOptions> = {
  readonly [Key in Name]-?: NonNullable<ClientOptions[Key]>;
};

/** Checked options. Later changes to the caller's own object have no effect. */
export interface ClientSettings
  extends Complete<'timeoutMs' | 'maxAttempts' | 'strict' | 'fetch' | 'onDeviation' | 'allowUnverifiedTls'> {
  readonly base: BaseUrl;
  /** The statuses after which nothing was started. */
  readonly refusedStatuses: readonly number[];
  readonly secretKey: string | undefined;
  readonly scrubber: Scrubber;
  /** What the scrubber removes. */
  readonly keys: readonly string[];
  readonly onResponse: ClientOptions['onResponse'];
  readonly cache: CacheOptions | undefined;
  readonly timing: Timing;
  /** Sent on every call. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A header cannot carry anything else; fetch would show the value in its error, or trim it silently. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/** Every option and its required shape, if given. The first three are checked separately. */
const OPTIONS: OptionRules<ClientOptions> = {
  baseUrl: undefined,
  publicKey: undefined,
  secretKey: undefined,
  timeoutMs: DURATION,
  maxAttempts: [(value) => Number.isSafeInteger(value) && Number(value) >= 1, 'an integer of 1 or more'],
  strict: BOOLEAN,
  onDeviation: FUNCTION,
  fetch: FUNCTION,
  onResponse: FUNCTION,
  cache: [RECORD[0], '{ ttlMs, staleIfErrorMs? }'],
  allowInsecureHost: [
    (value) => hostList(value).every((host) => typeof host === 'string' && /^[^\s/?#@]+$/.test(host)),
    'a host such as "sandbox", or a list of hosts',
  ],
  allowUnverifiedTls: BOOLEAN,
  timing: RECORD,
};
const CACHE_OPTIONS: OptionRules<CacheOptions> = {
  ttlMs: [DURATION[0], DURATION[1], REQUIRED],
  onChange: FUNCTION,
  staleIfErrorMs: [(value) => value === 0 || DURATION[0](value), 'a number of milliseconds, 0 or more'],
};

/** @throws {ConfigurationError} naming the option. */
export function readClientSettings(options: ClientOptions | ClientOptionsWithSecretKey): ClientSettings {
  checkOptions('createClient()', options, OPTIONS);
  const { publicKey, secretKey, onResponse, onDeviation, fetch, cache, allowUnverifiedTls = false } = options;
  const hosts = hostList(options.allowInsecureHost).map((host) => String(host).toLowerCase());
  const base = parseBaseUrl(options.baseUrl, hosts);
  checkRequestKey('publicKey', publicKey);
  // Present but undefined means an unset environment variable, not a client without balances.
  if ('secretKey' in options) {
    checkRequestKey('secretKey', secretKey);
    check('secretKey', secretKey !== publicKey, 'the secret key, not the public key');
  }
  if (cache !== undefined) checkOptions('cache', cache, CACHE_OPTIONS, 'cache.');
  const keys = [publicKey, secretKey].filter((key) => key !== undefined);
  checkTls(base, secretKey !== undefined, allowUnverifiedTls);
  return {
    base,
    refusedStatuses: REFUSED_STATUSES,
    secretKey,
    keys,
    scrubber: createScrubber(keys),
    timeoutMs: options.timeoutMs ?? 10_000,
    maxAttempts: options.maxAttempts ?? 3,
    strict: options.strict ?? false,
    // Looked up for every call: tracing tools may replace the global fetch after this client was created.
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
    onResponse: onResponse && harmless('onResponse', onResponse),
    onDeviation: onDeviation ? harmless('onDeviation', onDeviation) : warnOncePerField(),
    cache: cache && { ...cache, onChange: cache.onChange && harmless('cache.onChange', cache.onChange) },
    allowUnverifiedTls,
    timing: timingOf(options.timing),
    // Protocol §9: x-api-version is sent with value 1 on every request shown.
    headers: { accept: 'application/json', 'x-api-version': '1', 'public-key': publicKey, ...userAgent() },
  };
}

function check(option: string, isRight: boolean, shape: string): void {
  if (!isRight) throw new ConfigurationError(option, `${option} must be ${shape}.`);
}

function checkRequestKey(option: string, key: unknown): asserts key is string {
  checkKey(option, key);
  check(option, HEADER_SAFE.test(key), 'printable ASCII without spaces');
}

function hostList(hosts: unknown): readonly unknown[] {
  if (hosts === undefined) return [];
  return Array.isArray(hosts) ? hosts : [hosts];
}

/** A hook only reports. Its failure, including a rejection, is logged and does not fail the call. */
function harmless<T>(name: string, hook: (report: T) => unknown): (report: T) => void {
  const log = (error: unknown): void => console.error(`${name} failed; the call is not affected.`, error);
  return (report) => runHook(() => hook(report), log);
}

function warnOncePerField(): (deviation: Deviation) => void {
  const seen = new Set<string>();
  return ({ operation, path, received, isLeftOut }) => {
    const kind = `${operation} ${path.replace(/\[\d+\]/g, '[]')}`;
    if (seen.has(kind)) return;
    seen.add(kind);
    console.warn(
      `${operation}: ${path} deviates from the contract (received ${received}), ` +
        (isLeftOut
          ? 'so the row was left out. Set onDeviation to see every row, or strict to refuse the response. '
          : 'and the wallet was kept. Compare it with the merchant dashboard before you rely on it. ') +
        'This client does not repeat the warning for this field.',
    );
  };
}

/** A browser sends its own User-Agent, and its CORS check would ask the service to allow ours. */
function userAgent(): { 'user-agent'?: string } {
  if ('document' in globalThis) return {};
  const { process } = globalThis as { process?: { versions?: Record<string, string | undefined> } };
  const node = process?.versions?.['node'];
  return {
    'user-agent': `payment-service-sdk/${manifest.version}${node === undefined ? '' : ` node/${node}`}`,
  };
}

/** Keeps the given members; a program may pass undefined for the others. */
function timingOf(given: ClientOptions['timing'] = {}): Timing {
  const defined = Object.entries(given).filter(([, each]) => each !== undefined);
  return { ...SYSTEM_TIMING, ...Object.fromEntries(defined) };
}

const SYSTEM_TIMING: Timing = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: () => Math.random(),
  schedule: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
