import type { Parking, ParkingOutcome } from '../parking.ts';
import { type Session, textOf } from '../session.ts';
import type { Settlement } from '../settlement.ts';
import type { Lane, LaneOptions } from '../store.ts';
import type { PostgresClient, PostgresTransaction } from './postgres-pool.ts';
import { postgresSession } from './postgres-session.ts';
import type { StartCounter } from './start-counter.ts';

/** Works on one transition at a time, on a connection of its own. */
export class PostgresLane implements Lane<PostgresTransaction> {
  readonly session: Session;
  readonly countsAtClaim = false;
  readonly #client: PostgresClient;
  readonly #schema: string;
  readonly #starts: StartCounter;
  readonly #begin: string;
  #wasIdle = false;
  #lastStatement: Promise<unknown> = Promise.resolve();
  readonly #ignoreError = (): void => undefined;

  constructor(
    client: PostgresClient,
    schema: string,
    starts: StartCounter,
    { handlerTimeoutMs, storeTimeoutMs }: LaneOptions,
  ) {
    this.#client = client;
    this.#schema = schema;
    this.#starts = starts;
    this.session = postgresSession(client);
    // A broken connection shows in the next statement; without a listener it would end the process.
    client.on('error', this.#ignoreError);
    const idle = 3 * handlerTimeoutMs + 10_000;
    this.#begin =
      'begin isolation level read committed; ' +
      `set local statement_timeout = ${handlerTimeoutMs}; set local lock_timeout = ${storeTimeoutMs}; ` +
      `set local idle_in_transaction_session_timeout = ${idle}`;
  }

  async claim(account: string, now: number): Promise<Uint8Array | undefined> {
    if (this.#wasIdle && !(await this.#isAnythingDue(account, now))) return undefined;
    // One round trip. The simple protocol takes no values: the label goes in as hexadecimal digits.
    const label = `convert_from(decode('${Buffer.from(account).toString('hex')}', 'hex'), 'UTF8')`;
    const results: unknown = await this.#client.query(
      `${this.#begin}; select encode(${this.#schema}.claim(${label}, ${Math.floor(now)}), 'hex') as id; ` +
        'savepoint payment_inbox_handler',
    );
    const id = claimedId(results);
    this.#wasIdle = id === undefined;
    if (id === undefined) await this.#client.query('rollback');
    return id;
  }

  async #isAnythingDue(account: string, now: number): Promise<boolean> {
    const { rows } = await this.session.query(
      `select 1 as due from ${this.#schema}.transition
       where account = $1 and state in ('pending', 'retrying') and next_at <= $2 limit 1`,
      [account, now],
    );
    return rows.length > 0;
  }

  countStart(transitionId: Uint8Array): Promise<void> {
    return this.#starts.add(transitionId, 1);
  }

  forgetStart(transitionId: Uint8Array): Promise<void> {
    return this.#starts.add(transitionId, -1);
  }

  handlerTransaction(check: (text: unknown) => void): PostgresTransaction {
    return {
      query: async (text, values = []) => {
        check(text);
        // The extended protocol takes one statement at a time: no COMMIT can hide behind another statement.
        return this.#inTurn(() => this.#client.query({ text, values, queryMode: 'extended' }));
      },
    };
  }

  async releaseSavepoint(): Promise<void> {
    await this.#inTurn(() =>
      this.#client.query('set constraints all immediate; release savepoint payment_inbox_handler'),
    );
  }

  async rollbackToSavepoint(): Promise<void> {
    await this.#inTurn(() => this.#client.query('rollback to savepoint payment_inbox_handler'));
  }

  async settle(settlement: Settlement): Promise<boolean> {
    const { transitionId, referenceKey, subjectKey, status, settled, digest = null, now } = settlement;
    const { rows } = await this.session.query(
      `select ${this.#schema}.settle($1, $2, $3, $4, $5, $6, $7, $8) as is_settled`,
      [
        transitionId,
        referenceKey,
        subjectKey,
        status,
        settled?.currency ?? null,
        settled?.amount ?? null,
        digest,
        now,
      ],
    );
    return rows[0]?.['is_settled'] === 't';
  }

  async park(parking: Parking): Promise<ParkingOutcome> {
    const { transitionId, referenceKey, state, reason, revision, expectationRevision, now } = parking;
    const { rows } = await this.session.query(
      `select ${this.#schema}.park($1, $2, $3, $4, $5, $6, $7, $8) as outcome`,
      [transitionId, referenceKey, state, reason, revision, expectationRevision, now, parking.postponedTo],
    );
    return textOf(rows[0] ?? {}, 'outcome') as ParkingOutcome;
  }

  /** A handler may start several statements at once, and may forget to wait for one. */
  #inTurn<T>(statement: () => Promise<T>): Promise<T> {
    const next = this.#lastStatement.then(statement);
    this.#lastStatement = next.catch(() => undefined);
    return next;
  }

  async commit(): Promise<void> {
    await this.#client.query('commit');
  }

  async rollback(): Promise<void> {
    await this.#client.query('rollback');
  }

  async close(): Promise<void> {
    this.#client.removeListener('error', this.#ignoreError);
    // Whatever is open on it ends with the connection.
    this.#client.release(true);
  }
}

/** `pg` answers several statements with a list of results, which its types do not say. */
function claimedId(results: unknown): Uint8Array | undefined {
  const list: readonly unknown[] = Array.isArray(results) ? results : [];
  for (const result of list) {
    const rows: unknown = Object(result).rows;
    const id: unknown = Array.isArray(rows) ? Object(rows[0]).id : undefined;
    if (typeof id === 'string') return Buffer.from(id, 'hex');
  }
  return undefined;
}
