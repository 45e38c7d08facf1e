import { hash } from 'node:crypto';
import type { Call, Row } from '../store.ts';
import type { PostgresClient } from './connection.ts';

/** The statements that are prepared on a connection, for all stores on its pool, and the names of their columns. */
const KNOWN = new WeakMap<PostgresClient, Map<string, readonly string[]>>();

/** What the package `pg` offers below a client to queries that speak the protocol themselves, as pg-cursor does. */
interface Connection {
  /** A stream outside Node.js may not be able to cork. */
  readonly stream: { cork?(): void; uncork?(): void };
  close(what: { readonly type: 'S'; readonly name: string }): void;
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(portal: { readonly statement: string; readonly values: readonly (string | null)[] }): void;
  describe(what: { readonly type: 'P' }): void;
  execute(portal: object): void;
  sync(): void;
}

/** False for a client of `pg-native`, and for one whose own pipeline refuses other queries. */
export function canPipe(client: PostgresClient): boolean {
  const below: unknown = Reflect.get(client, 'connection');
  return Reflect.get(client, 'pipeline') !== true && typeof Reflect.get(Object(below), 'bind') === 'function';
}

/**
 * Runs several statements in one message, which is one round trip; none runs after one that failed. Values are strings or null.
 * Under READ COMMITTED each of them has its own snapshot: a statement after a lock sees everything that was committed
 * before the lock was released.
 *
 * @param canPrepare Whether statements stay on the connection: the first message with one prepares it.
 * @param after A call that is also in the message, and may fail.
 */
export function pipe(
  client: PostgresClient,
  calls: readonly Call[],
  canPrepare: boolean,
  after?: Call,
): Promise<readonly (readonly Row[])[]> {
  const known = KNOWN.get(client) ?? new Map<string, readonly string[]>();
  KNOWN.set(client, known);
  return new Promise((resolve, reject) => {
    const all = after === undefined ? calls : [...calls, after];
    const pipeline = new Pipeline(all, canPrepare ? known : undefined, (error, rows) =>
      rows.length < calls.length ? reject(error) : resolve(rows),
    );
    Reflect.apply(client.query, client, [pipeline]);
  });
}

/** A query of `pg`, which calls its methods and may replace `callback`. */
class Pipeline {
  /** Receives the rows of the statements that have succeeded. */
  callback: (error: Error | null, rows: readonly (readonly Row[])[]) => void;
  readonly calls: readonly Call[];
  readonly #known: Map<string, readonly string[]> | undefined;
  readonly #columns: (readonly string[])[];
  readonly #rows: Row[][];
  /** The statement whose results arrive. */
  #at = 0;

  constructor(
    calls: readonly Call[],
    known: Map<string, readonly string[]> | undefined,
    callback: Pipeline['callback'],
  ) {
    this.calls = calls;
    this.#known = known;
    this.#columns = calls.map(({ statement }) => known?.get(statement.text) ?? []);
    this.#rows = calls.map(() => []);
    this.callback = callback;
  }

  submit(connection: Connection): null {
    connection.stream.cork?.();
    for (const { statement, values } of this.calls) {
      const { text, isPrepared = false } = statement;
      const name = isPrepared && this.#known !== undefined ? pipedName(text) : '';
      const isKnown = name !== '' && this.#known?.has(text) === true;
      // Whether an earlier message that failed has prepared it is not known.
      if (!isKnown && name !== '') connection.close({ type: 'S', name });
      if (!isKnown) connection.parse({ name, text });
      const given = values.map((value) => (value === null ? null : String(value)));
      connection.bind({ statement: name, values: given });
      if (!isKnown) connection.describe({ type: 'P' });
      connection.execute({});
    }
    connection.sync();
    connection.stream.uncork?.();
    return null;
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly name: string }[] }): void {
    this.#columns[this.#at] = fields.map(({ name }) => name);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (const [index, name] of this.#columns[this.#at]?.entries() ?? []) row[name] = fields[index];
    this.#rows[this.#at]?.push(row);
  }

  handleCommandComplete(): void {
    this.#at += 1;
  }

  handleError(error: Error): void {
    this.callback(error, this.#rows.slice(0, this.#at));
  }

  handleReadyForQuery(): void {
    for (const [index, { statement }] of this.calls.entries())
      if (statement.isPrepared === true) this.#known?.set(statement.text, this.#columns[index] ?? []);
    this.callback(null, this.#rows);
  }
}

const NAMES = new Map<string, string>();

/** Named after its text, since a pooler may lend the connection to another version of the inbox. */
export function preparedName(text: string): string {
  const known = NAMES.get(text) ?? `payment_inbox_${hash('sha256', text).slice(0, 16)}`;
  NAMES.set(text, known);
  return known;
}

/** Differs from the name under which the driver prepares the same text. */
function pipedName(text: string): string {
  return `${preparedName(text)}_x`;
}
