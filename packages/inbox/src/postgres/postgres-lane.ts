import type { Parking, ParkingOutcome } from '../parking.ts';
import { type Session, textOf } from '../session.ts';
import type { Settlement } from '../settlement.ts';
import type { Lane, LaneOptions } from '../store.ts';
import type { TransactionGuard } from '../transaction-guard.ts';
import { TransactionEnded } from '../unrecorded-attempt.ts';
import { within } from '../within.ts';
import { giveBack } from './connections.ts';
import { beginFor, merchantTransaction } from './merchant-transaction.ts';
import type { PostgresClient, PostgresTransaction } from './postgres-pool.ts';
import { runStatement } from './postgres-session.ts';
import type { StartCounter } from './start-counter.ts';

/** Works on one transition at a time, on a connection of its own. */
export class PostgresLane implements Lane<PostgresTransaction> {
  readonly session: Session;
  readonly #client: PostgresClient;
  readonly #schema: string;
  readonly #starts: StartCounter;
  readonly #begin: string;
  readonly #patienceMs: number;
  #wasIdle = false;
  #guard: TransactionGuard | undefined;

  constructor(
    client: PostgresClient,
    schema: string,
    starts: StartCounter,
    { handlerTimeoutMs, storeTimeoutMs }: LaneOptions,
  ) {
    this.#client = client;
    this.#schema = schema;
    this.#starts = starts;
    // The server's own limits come first. This one is for a server that has vanished without a word; it includes the wait
    // for a statement of a handler that has ended.
    this.#patienceMs = handlerTimeoutMs + storeTimeoutMs;
    this.session = { query: (text, values = []) => this.#patiently(runStatement(client, text, values)) };
    this.#begin = `${beginFor(handlerTimeoutMs)}; set local lock_timeout = ${storeTimeoutMs}`;
  }

  async claim(account: string, now: number): Promise<Uint8Array | undefined> {
    if (this.#wasIdle && !(await this.#isAnythingDue(account, now))) return undefined;
    // One round trip. The simple protocol takes no values: the label goes in as hexadecimal digits.
    const label = `convert_from(decode('${Buffer.from(account).toString('hex')}', 'hex'), 'UTF8')`;
    const results: unknown = await this.#run(
      `${this.#begin}; select encode(${this.#schema}.claim(${label}, ${Math.floor(now)}), 'hex') as id; ` +
        'savepoint payment_inbox_handler',
    );
    const id = claimedId(results);
    this.#wasIdle = id === undefined;
    if (id === undefined) await this.rollback();
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

  handlerTransaction(guard: TransactionGuard): PostgresTransaction {
    this.#guard = guard;
    return merchantTransaction(this.#client, guard);
  }

  async releaseSavepoint(): Promise<void> {
    await this.#inItsTransaction('set constraints all immediate; release savepoint payment_inbox_handler');
  }

  async rollbackToSavepoint(): Promise<void> {
    // A statement of a handler that has ended may still run.
    await this.#patiently(this.#guard?.idle() ?? Promise.resolve());
    await this.#inItsTransaction('rollback to savepoint payment_inbox_handler');
  }

  async settle(settlement: Settlement): Promise<boolean> {
    const { transitionId, referenceKey, subjectKey, status, settled, digest = null, now } = settlement;
    const { rows } = await this.session.query(
      `select ${this.#schema}.settle($1, $2, $3, $4, $5, $6, $7, $8, $9) as is_settled`,
      [
        transitionId,
        referenceKey,
        subjectKey,
        status,
        settled?.currency ?? null,
        settled?.amount ?? null,
        settled?.compare ?? null,
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

  /** @throws {TransactionEnded} when there is no transaction, or another one. */
  async #inItsTransaction(text: string): Promise<void> {
    try {
      await this.#run(text);
    } catch (error) {
      const code: unknown = Object(error).code;
      throw code === '25P01' || code === '3B001' ? new TransactionEnded(error) : error;
    }
  }

  #run(text: string): Promise<unknown> {
    return this.#patiently(this.#client.query(text));
  }

  /** @throws {TimedOut}; the lane is of no more use then, and closing it destroys the connection. */
  #patiently<T>(statement: Promise<T>): Promise<T> {
    return within(this.#patienceMs, statement);
  }

  async commit(): Promise<void> {
    await this.#run('commit');
  }

  async rollback(): Promise<void> {
    await this.#run('rollback');
  }

  async close(): Promise<void> {
    giveBack(this.#client, true);
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
