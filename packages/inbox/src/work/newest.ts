import { within } from '../time.ts';
import { type Due, dueIn, type WorkContext } from './attempt/attempt-stages.ts';

/** In a backlog, one start in this many is of what has become due last. */
const EVERY = 4;
/** How often a worker in a backlog looks for them, while its handlers run. */
const LOOK_MS = 100;
/** How long it leaves them to another process that was faster. */
const LEFT_MS = 1000;

/**
 * What has become due last, read while a worker is behind: new callbacks, for which a customer may be waiting, and retries would
 * otherwise wait for the whole backlog (threat A75).
 */
export class Newest<Tx> {
  readonly #context: WorkContext<Tx>;
  #due: Due[] = [];
  #isBehind = false;
  #lookAt = 0;
  /** How many have started since the last one of these. */
  #others = 0;

  constructor(context: WorkContext<Tx>) {
    this.#context = context;
  }

  get isLookDue(): boolean {
    return this.#isBehind && performance.now() >= this.#lookAt;
  }

  /** A handler took so long that the next start waits for a look. */
  get isOld(): boolean {
    return this.#isBehind && performance.now() >= this.#lookAt + LOOK_MS;
  }

  set isBehind(isBehind: boolean) {
    this.#isBehind = isBehind;
    if (!isBehind) this.#due = [];
  }

  /**
   * Meanwhile, lanes go on with the window.
   *
   * @param subjects that lanes hold.
   */
  async look(subjects: ReadonlySet<string>, until: number = Number.MAX_SAFE_INTEGER): Promise<void> {
    const { statements, settings } = this.#context;
    this.#lookAt = performance.now() + LOOK_MS;
    this.#due = [];
    // Their starts may not be committed when the newest are read.
    const held = new Set(subjects);
    const values = [settings.account, until];
    const rows = await within(settings.storeTimeoutMs, statements.run('find_newest', values));
    const read = rows.map((row) => ({ ...dueIn(row), isNewest: true }));
    this.#due = read.filter(({ subjectKey }) => !held.has(subjectKey));
  }

  /** The first one that may run beside those that hold `subjects`, if it is the turn of these. */
  first(subjects: ReadonlySet<string>): Due | undefined {
    if (this.#others < EVERY - 1) return undefined;
    return this.#due.find(({ subjectKey }) => !subjects.has(subjectKey));
  }

  take({ id, isNewest = false }: Due): void {
    this.#due = this.#due.filter((other) => other.id !== id);
    this.#others = isNewest ? 0 : this.#others + 1;
  }

  /** To the process that was faster: otherwise each would try every one of them. */
  leave(): void {
    this.#due = [];
    this.#lookAt = performance.now() + LEFT_MS;
  }
}
