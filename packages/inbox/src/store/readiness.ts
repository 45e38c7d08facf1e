import { ClosedError, ConfigurationError } from '@payment-service/core';
import { adviceOn } from '../reporting/database-advice.ts';
import { failureCode } from '../reporting/events.ts';
import { codesOf } from '../reporting/failure-text.ts';
import { type Report, warn } from '../reporting/problems.ts';
import { migrate, versionOf } from './schema.ts';
import type { Statements } from './statements.ts';
import type { Store } from './store.ts';

export interface ReadinessOptions<Tx> {
  readonly store: Store<Tx>;
  readonly statements: Statements<Tx>;
  readonly report: Report;
  /** Aborted by `close()`. */
  readonly closed: AbortSignal;
  /** Work that an unusable database must not block. */
  readonly onPrepare: () => void;
  /** Rejects if a callback could not be kept. */
  readonly tryToKeep: () => Promise<void>;
}

/** Whether the tables exist, fit this program, and accept a callback. */
export class Readiness<Tx> {
  readonly #options: ReadinessOptions<Tx>;
  #isReady = false;
  #isReadable = false;
  #preparing: Promise<void> | undefined;
  #outdated: ConfigurationError | undefined;

  constructor(options: ReadinessOptions<Tx>) {
    this.#options = options;
  }

  /** True after a newer version has changed the tables so that this program would misread them (decision D45). */
  get isOutdated(): boolean {
    return this.#outdated !== undefined;
  }

  /** Runs once for all callers, and again after a failure. */
  readonly ready = async (): Promise<void> => {
    if (this.#options.closed.aborted) throw new ClosedError('This inbox is closed. Create a new one.');
    this.#preparing ??= this.#prepare().catch((error: unknown) => {
      this.#preparing = undefined;
      throw error;
    });
    await this.#preparing;
  };

  /** For callbacks: those that arrived before `close()` are still kept. */
  readonly takesCallbacks = async (): Promise<void> => {
    if (!this.#isReady) await this.ready();
  };

  /** For reads only: a store that accepts no callback is enough, such as a standby. */
  async readable(): Promise<void> {
    await this.ready().catch((error: unknown) => {
      if (!this.#isReadable || this.#options.closed.aborted) throw error;
    });
  }

  /** For a transaction that is already open: creating the tables now would wait for it. */
  mustBeReady(): void {
    if (this.#isReady) return;
    if (this.#outdated !== undefined) throw this.#outdated;
    throw new ConfigurationError('tx', 'Call ready() when the program starts, before expect({ tx }).');
  }

  /** While the program runs: rejects, and is no longer ready, once the tables were changed for a newer version. */
  readonly checkTables = async (): Promise<void> => {
    if (this.#outdated !== undefined) throw this.#outdated;
    if (!this.#isReady) return;
    await versionOf(this.#options.statements).catch((error: unknown) => {
      if (!(error instanceof ConfigurationError)) throw error;
      if (this.#isReady) warn(this.#options.report, 'tables_changed', error.message);
      this.#isReady = false;
      this.#preparing = undefined;
      this.#outdated = error;
      throw error;
    });
  };

  /** Rejects if no callback can be kept now. */
  readonly probe = async (): Promise<void> => {
    await this.ready();
    await this.checkTables();
    await this.#options.tryToKeep();
  };

  async #prepare(): Promise<void> {
    const { store, statements, onPrepare, tryToKeep } = this.#options;
    onPrepare();
    await store.check?.().catch(advise);
    await migrate(store, statements).catch(explain(`${CREATE} ${GRANT}`));
    this.#isReadable = true;
    await tryToKeep().catch(explain(GRANT));
    this.#isReady = true;
    this.#outdated = undefined;
  }
}

const CREATE =
  "Run 'payment-service-inbox migrate' with a role that may create tables, or have a DBA run the output of 'payment-service-inbox sql'.";
const GRANT =
  "Grant the role of this program the rights in the last lines of the output of 'payment-service-inbox sql'.";
const READ_ONLY =
  'It is a standby, or the connection, the role or the database is read-only (default_transaction_read_only). Connect to the primary, as a role that may write.';

/** For an error of the connection, such as ECONNREFUSED: it keeps its code, and says what to do. */
function advise(error: unknown): never {
  const advice = error instanceof ConfigurationError ? undefined : adviceOn(error);
  if (advice === undefined) throw error;
  const said = error instanceof Error ? error.message || failureCode(error) : String(error);
  throw Object.assign(new Error(`ready(): ${said}. ${advice}`, { cause: error }), {
    code: failureCode(error),
  });
}

/** For an error that says only that something is not permitted: it keeps its code, and says what to do. */
function explain(missingRights: string): (error: unknown) => never {
  return (error) => {
    const codes = codesOf(error);
    const say = (code: string, what: string): never => {
      const said = error instanceof Error ? error.message : String(error);
      throw Object.assign(
        new Error(`The database refuses it (${code}): ${said}. ${what}`, { cause: error }),
        { code },
      );
    };
    if (codes.includes('42501')) say('42501', missingRights);
    if (codes.includes('25006')) say('25006', READ_ONLY);
    throw error;
  };
}
