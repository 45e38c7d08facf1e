import manifest from '../../package.json' with { type: 'json' };
import { ConfigurationError } from '../errors.ts';
import { checkKey } from '../key-check.ts';
import { refuseUnknownOptions } from '../unknown-options.ts';
import { type BaseUrl, noteUnverifiedTls, parseBaseUrl, refuseUnverifiedTls } from './base-url.ts';
import type {
  AttemptReport,
  CacheOptions,
  ClientOptions,
  ClientOptionsWithSecretKey,
  Deviation,
  FetchInit,
} from './client.ts';
import type { CacheSettings } from './reference-cache.ts';
import { createScrubber, type Scrubber } from './scrubber.ts';
import { systemTiming, type Timing } from './timing.ts';

/** Checked options. Later changes to the caller's own object have no effect. */
export interface ClientSettings {
  readonly base: BaseUrl;
  readonly publicKey: string;
  readonly secretKey: string | undefined;
  readonly scrubber: Scrubber;
  readonly timeoutMs: number;
  readonly maxAttempts: number;
  readonly strict: boolean;
  readonly fetch: (url: string, init: FetchInit) => Response | Promise<Response>;
  readonly onResponse: ((report: AttemptReport) => void) | undefined;
  readonly onDeviation: (deviation: Deviation) => void;
  readonly cache: CacheSettings | undefined;
  readonly allowUnverifiedTls: boolean;
  readonly timing: Timing;
  /** Sent on every call. */
  readonly headers: Readonly<Record<string, string>>;
}

const OPTIONS = (
  'baseUrl publicKey secretKey timeoutMs maxAttempts strict onDeviation fetch onResponse cache allowInsecureHost ' +
  'allowUnverifiedTls timing'
).split(' ');
/** Timers hold 31 bits; a longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** A header cannot carry anything else; fetch would show the value in its error, or trim it silently. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/** @throws {ConfigurationError} naming the option. */
export function readClientSettings(options: ClientOptions | ClientOptionsWithSecretKey): ClientSettings {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError('options', 'createClient() takes { baseUrl, publicKey, … }.');
  }
  refuseUnknownOptions('createClient()', options, OPTIONS);
  const { timeoutMs = 10_000, maxAttempts = 3, strict = false, allowUnverifiedTls = false } = options;
  const { fetch, onResponse, onDeviation } = options;
  const base = parseBaseUrl(options.baseUrl, readHosts(options.allowInsecureHost));
  const { publicKey } = options;
  checkRequestKey('publicKey', publicKey);
  const { secretKey } = options;
  // Present and undefined is an unset environment variable, not a client without balances.
  if ('secretKey' in options) {
    checkRequestKey('secretKey', secretKey);
    check('secretKey', secretKey !== publicKey, 'the secret key, not the public key');
  }
  check('timeoutMs', isDuration(timeoutMs) && timeoutMs > 0, 'a number of milliseconds above 0');
  check('maxAttempts', Number.isSafeInteger(maxAttempts) && maxAttempts >= 1, 'an integer of 1 or more');
  check('strict', typeof strict === 'boolean', 'true or false');
  check('onDeviation', isOptionalFunction(onDeviation), 'a function');
  check('fetch', typeof (fetch ?? globalThis.fetch) === 'function', 'a function');
  check('onResponse', isOptionalFunction(onResponse), 'a function');
  check('allowUnverifiedTls', typeof allowUnverifiedTls === 'boolean', 'true or false');
  noteUnverifiedTls();
  if (secretKey !== undefined) refuseUnverifiedTls(base, allowUnverifiedTls);
  return {
    base,
    publicKey,
    secretKey,
    scrubber: createScrubber([publicKey, secretKey].filter((key) => key !== undefined)),
    timeoutMs,
    maxAttempts,
    strict,
    // Looked up for every call: tracing tools replace the global one after this client was made.
    fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
    onResponse: onResponse && ((report) => runHook('onResponse', onResponse, report)),
    onDeviation: onDeviation
      ? (deviation) => runHook('onDeviation', onDeviation, deviation)
      : warnOncePerField(),
    cache: readCache(options.cache),
    allowUnverifiedTls,
    timing: { ...systemTiming, ...options.timing },
    // Protocol §9: x-api-version is sent with value 1 on every request shown.
    headers: { accept: 'application/json', 'x-api-version': '1', 'public-key': publicKey, ...userAgent() },
  };
}

function checkRequestKey(option: string, key: unknown): asserts key is string {
  checkKey(option, key);
  check(option, HEADER_SAFE.test(key), 'printable ASCII without spaces');
}

function readHosts(hosts: unknown): readonly string[] {
  if (hosts === undefined) return [];
  const list: readonly unknown[] = Array.isArray(hosts) ? hosts : [hosts];
  const names = list.filter((host) => typeof host === 'string' && /^[^\s/?#@]+$/.test(host)).map(String);
  check('allowInsecureHost', names.length === list.length, 'a host such as "sandbox", or a list of hosts');
  return names.map((name) => name.toLowerCase());
}

function readCache(cache: CacheOptions | undefined): CacheSettings | undefined {
  if (cache === undefined) return undefined;
  check('cache', typeof cache === 'object' && cache !== null, '{ ttlMs, staleIfErrorMs? }');
  refuseUnknownOptions('cache', cache, ['ttlMs', 'staleIfErrorMs']);
  const { ttlMs, staleIfErrorMs = 0 } = cache;
  check('cache.ttlMs', isDuration(ttlMs) && ttlMs > 0, 'a number of milliseconds above 0');
  check('cache.staleIfErrorMs', isDuration(staleIfErrorMs), 'a number of milliseconds, 0 or more');
  return { ttlMs, staleIfErrorMs };
}

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= MAX_TIMER_MS;
}

function isOptionalFunction(value: unknown): boolean {
  return value === undefined || typeof value === 'function';
}

function check(option: string, isRight: boolean, shape: string): void {
  if (!isRight) throw new ConfigurationError(option, `${option} must be ${shape}.`);
}

/** A hook reports. Its own failure, including a rejection, is logged and does not fail the call. */
function runHook<T>(name: string, hook: (report: T) => unknown, report: T): void {
  const run = async (): Promise<unknown> => hook(report);
  void run().catch((error) => console.error(`${name} failed; the call is not affected.`, error));
}

function warnOncePerField(): (deviation: Deviation) => void {
  const seen = new Set<string>();
  return ({ operation, path, received }) => {
    const kind = `${operation} ${path.replace(/\[\d+\]/g, '[]')}`;
    if (seen.has(kind)) return;
    seen.add(kind);
    console.warn(
      `${operation}: ${path} deviates from the contract (received ${received}), so the row was left out. This client ` +
        'does not repeat the warning for this field. Set onDeviation to see every row, or strict to refuse the response.',
    );
  };
}

/** A browser sends its own User-Agent, and its CORS check would ask the service to allow ours. */
function userAgent(): { 'user-agent'?: string } {
  if ('document' in globalThis) return {};
  const { process } = globalThis as { process?: { versions?: Record<string, string | undefined> } };
  const { node, bun, deno } = process?.versions ?? {};
  const isNode = node !== undefined && bun === undefined && deno === undefined;
  return { 'user-agent': `payment-service-sdk/${manifest.version}${isNode ? ` node/${node}` : ''}` };
}
