import { ApiError, ConnectionError, InvalidResponseError, TimeoutError } from '../../errors.ts';
import type { CacheOptions, CallOptions, Timing } from '../client.ts';
import { TRANSIENT } from '../response/failure.ts';
import { onAbort } from './on-abort.ts';

type Load<T> = (key: string, signal: AbortSignal) => Promise<T>;

interface Entry<T> {
  readonly value: T;
  readonly storedAt: number;
  /** The end of its time to live; after a failed refresh, the time of the next attempt. */
  nextTryAt: number;
}

interface Flight<T> {
  readonly answer: Promise<T>;
  readonly controller: AbortController;
  callers: number;
}

/** Filters may come from customers: without a limit, each new one would stay permanently. */
const MAX_ENTRIES = 256;
/** How long stale data is served after a failed refresh, so that not every caller waits for the next failure. */
const HOLD_MS = 5000;

/**
 * Caches the responses of one reference-data operation by query. Concurrent callers share one request (single flight). If one
 * caller aborts, the request continues; if the last one aborts, it is cancelled. Every caller gets a copy.
 *
 * @param onRefresh Receives both values whenever one replaces another.
 * @returns A function that reads a value. It throws what `load` throws, or the reason of the caller's signal.
 */
export function referenceCache<T>(
  load: Load<T>,
  { ttlMs, staleIfErrorMs = 0 }: CacheOptions,
  timing: Timing,
  onRefresh: (before: T, after: T) => void,
): (key: string, call: CallOptions) => Promise<T> {
  const entries = new Map<string, Entry<T>>();
  const flights = new Map<string, Flight<T>>();

  const refresh = async (key: string, signal: AbortSignal, fresh: boolean): Promise<T> => {
    try {
      const value = await load(key, signal);
      const storedAt = timing.monotonic();
      const before = entries.get(key)?.value;
      if (before !== undefined) onRefresh(before, value);
      entries.delete(key);
      entries.set(key, { value, storedAt, nextTryAt: storedAt + ttlMs });
      const [oldest] = entries.keys();
      if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
      return value;
    } catch (error) {
      const entry = entries.get(key);
      const now = timing.monotonic();
      if (fresh || entry === undefined || !isOutage(error)) throw error;
      const staleUntil = entry.storedAt + ttlMs + staleIfErrorMs;
      if (now >= staleUntil) throw error;
      entry.nextTryAt = Math.min(now + HOLD_MS, staleUntil);
      return entry.value;
    }
  };

  return async (key, { signal, fresh = false }) => {
    const entry = entries.get(key);
    if (!fresh && entry !== undefined && timing.monotonic() < entry.nextTryAt)
      return structuredClone(entry.value);
    // A request that is not fresh may end with stale data.
    const flightKey = fresh ? `fresh ${key}` : key;
    let flight = flights.get(flightKey);
    if (flight === undefined) {
      const controller = new AbortController();
      flight = { answer: refresh(key, controller.signal, fresh), controller, callers: 0 };
      flights.set(flightKey, flight);
    }
    flight.callers += 1;
    try {
      return structuredClone(await (signal ? untilAborted(flight.answer, signal) : flight.answer));
    } finally {
      flight.callers -= 1;
      if (flight.callers === 0) {
        if (flights.get(flightKey) === flight) flights.delete(flightKey);
        // After the last caller. A flight that has already landed is not affected.
        flight.controller.abort();
      }
    }
  };
}

/** The service is unreachable or broken. Anything else, such as a refused key, is an answer. */
function isOutage(error: unknown): boolean {
  if (error instanceof ApiError) return TRANSIENT.has(error.status) || error.status >= 500;
  return [ConnectionError, TimeoutError, InvalidResponseError].some((outage) => error instanceof outage);
}

/**
 * Settles as `promise` does, or rejects with `signal.reason` as soon as `signal` aborts, even if the work ignores it.
 * Leaves no listener behind.
 */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let forget = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    // The work may have aborted it already.
    if (signal.aborted) reject(signal.reason);
    else forget = onAbort(signal, () => reject(signal.reason));
  });
  return Promise.race([promise, aborted]).finally(() => forget());
}
