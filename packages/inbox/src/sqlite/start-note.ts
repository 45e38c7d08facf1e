import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';

/** The start of a handler, in the step of the worker that has this number. */
export interface NotedStart {
  readonly step: number;
  readonly transitionId: Uint8Array;
}

const FORM = /^(\d{16}) ([0-9a-f]{64})\n$/;
const NOTHING = { step: 0, transitionId: new Uint8Array(32) };

/**
 * Which handler was started last on a database file, in a small file beside it: while the handler's transaction is open,
 * nothing can be committed to the database itself. Only who holds the write lock of the database writes here. What is
 * written outlives the process, and need not outlive the machine: a note that is lost or torn is no note.
 */
export class StartNote {
  readonly #databasePath: string;
  readonly #path: string;

  constructor(databasePath: string) {
    this.#databasePath = databasePath;
    this.#path = `${databasePath}-start`;
  }

  read(): NotedStart | undefined {
    const [, step, transitionId] = FORM.exec(this.#text()) ?? [];
    if (step === undefined || transitionId === undefined) return undefined;
    return { step: Number(step), transitionId: Buffer.from(transitionId, 'hex') };
  }

  write({ step, transitionId }: NotedStart): void {
    const file = this.#opened();
    try {
      // Always of one length, and in one write: no other note shows through.
      writeSync(file, `${String(step).padStart(16, '0')} ${Buffer.from(transitionId).toString('hex')}\n`, 0);
    } finally {
      closeSync(file);
    }
  }

  clear(): void {
    this.write(NOTHING);
  }

  #text(): string {
    try {
      return readFileSync(this.#path, 'latin1');
    } catch (error) {
      if (isMissing(error)) return '';
      throw error;
    }
  }

  #opened(): number {
    try {
      return openSync(this.#path, constants.O_RDWR);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    const file = openSync(this.#path, constants.O_RDWR | constants.O_CREAT);
    // As SQLite does with its own files: whoever may write to the database may write to this one.
    const { mode, uid, gid } = statSync(this.#databasePath);
    fchmodSync(file, mode & 0o777);
    if (process.geteuid?.() === 0) fchownSync(file, uid, gid);
    return file;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, 'code') === 'ENOENT';
}
