import { ApiError, ConnectionError, InvalidResponseError, TimeoutError } from '../errors.ts';
import { isTransientStatus } from './attempt-failure.ts';
import { type Timing, untilAborted } from './timing.ts';

/** Checked cache options, in milliseconds. */
export interface CacheSettings {
  readonly ttlMs: number;
  readonly staleIfErrorMs: number;
}

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

/** Filters may come from customers: without a bound, each new one would stay permanently. */
const MAX_ENTRIES = 256;
/** After a failed refresh, stale data is served for this long, so that not every caller waits for the next failure. */
const HOLD_MS = 5000;

/**
 * Responses of one reference-data operation, by query. Concurrent callers share one request (single flight). Aborting
 * one caller leaves the request running; aborting the last one cancels it. Every caller gets a copy.
 */
export class ReferenceCache<T> {
  readonly #settings: CacheSettings;
  readonly #timing: Timing;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #flights = new Map<string, Flight<T>>();

  constructor(settings: CacheSettings, timing: Timing) {
    this.#settings = settings;
    this.#timing = timing;
  }

  /** @throws what `load` throws, or the reason of `signal`. */
  async read(
    key: string,
    load: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    signal?.throwIfAborted();
    const entry = this.#entries.get(key);
    if (entry !== undefined && this.#timing.monotonic() < entry.nextTryAt)
      return structuredClone(entry.value);
    return structuredClone(await this.#join(key, load, signal));
  }

  async #join(
    key: string,
    load: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const flight = this.#flights.get(key) ?? this.#start(key, load);
    flight.callers += 1;
    try {
      return await (signal === undefined ? flight.answer : untilAborted(flight.answer, signal));
    } finally {
      flight.callers -= 1;
      if (flight.callers === 0) this.#end(key, flight);
    }
  }

  #start(key: string, load: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight = { answer: this.#refresh(key, load, controller.signal), controller, callers: 0 };
    this.#flights.set(key, flight);
    return flight;
  }

  /** After the last caller. The abort does not affect a flight that has landed by then. */
  #end(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
    flight.controller.abort();
  }

  async #refresh(key: string, load: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      const value = await load(signal);
      this.#store(key, value);
      return value;
    } catch (error) {
      const entry = this.#entries.get(key);
      if (entry === undefined || !isOutage(error)) throw error;
      const now = this.#timing.monotonic();
      const staleUntil = entry.storedAt + this.#settings.ttlMs + this.#settings.staleIfErrorMs;
      if (now >= staleUntil) throw error;
      entry.nextTryAt = Math.min(now + HOLD_MS, staleUntil);
      return entry.value;
    }
  }

  #store(key: string, value: T): void {
    const storedAt = this.#timing.monotonic();
    this.#entries.delete(key);
    this.#entries.set(key, { value, storedAt, nextTryAt: storedAt + this.#settings.ttlMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
  }
}

/** The service is unreachable or broken. Anything else, such as a refused key, is an answer. */
function isOutage(error: unknown): boolean {
  if (error instanceof ApiError) return isTransientStatus(error.status) || error.status >= 500;
  return (
    error instanceof ConnectionError || error instanceof TimeoutError || error instanceof InvalidResponseError
  );
}
