import type { Kind, Records } from './records.ts';

type Id = string | number;
/** A table begins with its first record. */
type Tables<Deleted = never> = { [K in Kind]?: Map<string, Records[K] | Deleted> };
type Pending = Tables<undefined>;
type Untyped = Record<string, Map<string, unknown>>;

/** One changed record; `value` is undefined if it was deleted. */
export interface Change {
  readonly kind: string;
  readonly id: string;
  readonly value: unknown;
}

/** Where records outlive the process. Without it, the state is only in memory. */
export interface Persistence {
  /** Every record that was saved, in the order of the ids. */
  load(into: (kind: string, id: string, value: unknown) => void): void;
  /** Saves all changes or none, and returns once they are on disk. */
  save(changes: readonly Change[]): void;
  close(): void;
}

export interface Reader {
  get<K extends Kind>(kind: K, id: Id): Records[K] | undefined;
  list<K extends Kind>(kind: K): Records[K][];
}

/** One unit of work: its changes become visible and durable together. */
export interface Unit extends Reader {
  put<K extends Kind>(kind: K, id: Id, value: Records[K]): void;
  remove(kind: Kind, id: Id): void;
  clear(isMeant: (kind: string) => boolean): void;
  /**
   * The next free number, which is never used twice, not even after a reset. Transactions and transfers count from 1001, and
   * deliveries, ledger entries and requests each from 1. From 1001 on, deliveries share the first series, so that no number is
   * both a delivery's and a transaction's.
   */
  nextId(series?: 'delivery' | 'entry' | 'request'): number;
}

/** All state of a sandbox. Reads come from memory; the file, if there is one, is written before memory changes. */
export interface Store extends Reader {
  /** Runs the work, then saves its changes. If either throws, nothing has changed. */
  write<T>(work: (unit: Unit) => T): T;
  close(): void;
}

const FIRST_ID = 1001;

const put = (tables: Untyped, kind: string, id: string, value: unknown): void => {
  tables[kind] ??= new Map();
  tables[kind].set(id, value);
};

export function createStore(persistence?: Persistence, onWrite?: () => void): Store {
  const tables: Tables = {};
  // What is in our own file, with our own version number, was put there as a record of its kind.
  const untyped: Untyped = tables;
  persistence?.load((kind, id, value) => put(untyped, kind, id, value));
  const reader: Reader = {
    get: (kind, id) => tables[kind]?.get(String(id)),
    list: (kind) => [...(tables[kind]?.values() ?? [])],
  };

  const write = <T>(work: (unit: Unit) => T): T => {
    const changes: Pending = {};
    const result = work(createUnit(tables, changes));
    const list = Object.entries(changes).flatMap(([kind, table]) =>
      [...table].map(([id, value]) => ({ kind, id, value })),
    );
    if (list.length === 0) return result;
    persistence?.save(list);
    for (const { kind, id, value } of list) {
      if (value === undefined) untyped[kind]?.delete(id);
      else put(untyped, kind, id, value);
    }
    onWrite?.();
    return result;
  };
  return { ...reader, write, close: () => persistence?.close() };
}

function createUnit(tables: Tables, changes: Pending): Unit {
  const unit: Unit = {
    get(kind, id) {
      const key = String(id);
      return changes[kind]?.has(key) ? changes[kind].get(key) : tables[kind]?.get(key);
    },
    list(kind) {
      const merged = new Map<string, Records[typeof kind] | undefined>(tables[kind]);
      for (const [id, value] of changes[kind] ?? []) merged.set(id, value);
      return [...merged.values()].filter((value) => value !== undefined);
    },
    put: (kind, id, value) => put(changes, kind, String(id), value),
    remove: (kind, id) => put(changes, kind, String(id), undefined),
    clear(isMeant) {
      for (const [kind, table] of [tables, changes].flatMap((all) =>
        Object.entries<Map<string, unknown>>(all),
      ))
        if (isMeant(kind)) for (const id of table.keys()) put(changes, kind, id, undefined);
    },
    nextId(series) {
      const counter = series ?? 'id';
      const { next } = unit.get('counter', counter) ?? { next: series === undefined ? FIRST_ID : 1 };
      if (series === 'delivery' && next === FIRST_ID) return unit.nextId();
      unit.put('counter', counter, { next: next + 1 });
      return next;
    },
  };
  return unit;
}

/** The version of the state, which live pages follow, and when there is a newer one. */
export interface Changes {
  /** Increases with every write, and from one start to the next. */
  readonly version: number;
  /** Aborted when the sandbox closes; from then on no listener is called. */
  readonly ended: AbortSignal;
  /** Calls the listener after every write, until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

/** The feed, with the two functions that only the sandbox itself calls. */
export interface ChangeFeed extends Changes {
  announce(): void;
  end(): void;
}

/** `now` is the first version: a page of an earlier start must not look new. */
export function createChangeFeed(now: number, onError: (error: unknown) => void): ChangeFeed {
  const listeners = new Set<() => void>();
  const ending = new AbortController();
  let version = now;
  return {
    get version() {
      return version;
    },
    ended: ending.signal,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    announce: () => {
      version += 1;
      for (const listener of listeners) {
        try {
          listener();
        } catch (error) {
          // The write itself has succeeded.
          onError(error);
        }
      }
    },
    end: () => {
      listeners.clear();
      ending.abort();
    },
  };
}
