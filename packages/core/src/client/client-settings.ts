import { ConfigurationError } from '../errors.ts';
import { type BaseUrl, parseBaseUrl } from './base-url.ts';
import type {
  AttemptReport,
  CacheOptions,
  ClientOptions,
  ClientOptionsWithSecretKey,
} from './client-options.ts';
import type { CacheSettings } from './reference-cache.ts';
import { checkRequestKeys, type RequestKeys } from './request-keys.ts';
import { createScrubber, type Scrubber } from './scrubber.ts';
import { systemTiming, type Timing } from './timing.ts';
import { refuseUnverifiedTls } from './unverified-tls.ts';

/** Checked options: what the caller changes in its own object afterwards has no effect. */
export interface ClientSettings {
  readonly base: BaseUrl;
  readonly keys: RequestKeys;
  readonly scrubber: Scrubber;
  readonly timeoutMs: number;
  readonly maxAttempts: number;
  readonly send: (request: Request) => Promise<Response>;
  readonly report: (report: AttemptReport) => void;
  readonly cache: CacheSettings | undefined;
  readonly allowUnverifiedTls: boolean;
  readonly timing: Timing;
}

/** Timers hold 31 bits; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** @throws {ConfigurationError} that names the option. */
export function readClientSettings(options: ClientOptions | ClientOptionsWithSecretKey): ClientSettings {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError('options', 'createClient() takes { baseUrl, publicKey, … }.');
  }
  const { timeoutMs = 10_000, maxAttempts = 3, fetch, onResponse, allowUnverifiedTls = false } = options;
  const base = parseBaseUrl(options.baseUrl);
  const keys = checkRequestKeys(options);
  check('timeoutMs', isDuration(timeoutMs) && timeoutMs > 0, 'a number of milliseconds above 0');
  check('maxAttempts', Number.isSafeInteger(maxAttempts) && maxAttempts >= 1, 'an integer from 1');
  check(
    'fetch',
    typeof (fetch ?? globalThis.fetch) === 'function',
    'a function (this runtime has none of its own)',
  );
  check('onResponse', onResponse === undefined || typeof onResponse === 'function', 'a function');
  check('allowUnverifiedTls', typeof allowUnverifiedTls === 'boolean', 'true or false');
  if (keys.secretKey !== undefined) refuseUnverifiedTls(base, allowUnverifiedTls);
  return {
    base,
    keys,
    scrubber: createScrubber([keys.publicKey, keys.secretKey].filter((key) => key !== undefined)),
    timeoutMs,
    maxAttempts,
    // Looked up for every call: tracing tools replace the global one after this client was made.
    send: async (request) => (fetch ?? globalThis.fetch)(request),
    report: (report) => runHook(onResponse, report),
    cache: readCache(options.cache),
    allowUnverifiedTls,
    timing: { ...systemTiming, ...options.timing },
  };
}

function readCache(cache: CacheOptions | undefined): CacheSettings | undefined {
  if (cache === undefined) return undefined;
  check('cache', typeof cache === 'object' && cache !== null, '{ ttlMs, staleIfErrorMs? }');
  const { ttlMs, staleIfErrorMs = 0 } = cache;
  check('cache.ttlMs', isDuration(ttlMs) && ttlMs > 0, 'a number of milliseconds above 0');
  check('cache.staleIfErrorMs', isDuration(staleIfErrorMs), 'a number of milliseconds from 0');
  return { ttlMs, staleIfErrorMs };
}

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= LONGEST_TIMER_MS;
}

function check(option: string, isRight: boolean, shape: string): void {
  if (!isRight) throw new ConfigurationError(option, `${option} must be ${shape}, or be left out.`);
}

/** A metrics hook reports; its own failure, a rejection included, is logged and costs nobody an answer. */
function runHook(hook: ClientOptions['onResponse'], report: AttemptReport): void {
  if (hook === undefined) return;
  const run = async (): Promise<unknown> => hook(report);
  void run().catch((error) => console.error('onResponse failed; the call is not affected.', error));
}
