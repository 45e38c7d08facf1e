import { closeSync, openSync } from 'node:fs';
import type { Settings } from '../options.ts';
import { failureCode } from '../reporting/events.ts';
import { warn } from '../reporting/problems.ts';
import { identityOf } from '../store/sqlite/opened-files.ts';
import { DELIVERY, REFUSED } from './spool-folder.ts';

/** How many missing files the store is asked for in one statement. */
const MAX_ASKED = 500;

/** What the store knows a delivery by. */
export interface DeliveryKey {
  readonly transitionId: string;
  readonly digest: string;
}

/** The folder is no longer the one in which acknowledged deliveries wait. */
class FolderChanged extends Error {
  readonly code = 'SPOOL_FOLDER_CHANGED';
}

export interface KeptFilesOptions {
  readonly path: string;
  readonly settings: Settings;
  /** Those of these deliveries that the store does not have. Rejects while it is unavailable. */
  readonly notKept: (keys: readonly DeliveryKey[]) => Promise<readonly DeliveryKey[]>;
}

/**
 * The files of acknowledged deliveries that this process has written to a spool and not removed, and their folder. A file that is
 * missing was stored by another process or is gone: only the store can tell (threat A74).
 */
export class KeptFiles {
  readonly #options: KeptFilesOptions;
  readonly #files = new Map<string, DeliveryKey>();
  #folder: { readonly identity: string | undefined; readonly handle: number | undefined } | undefined;
  /** The last change of the folder that was reported. */
  #reported: string | undefined;
  #gone = 0;

  constructor(options: KeptFilesOptions) {
    this.#options = options;
  }

  get names(): readonly string[] {
    return [...this.#files.keys()];
  }

  /** How many are gone, as far as it is known. */
  get gone(): number {
    return this.#gone;
  }

  /** The folder, which exists, must be the same one until `release()`. It stays open, so that no other gets its inode. */
  hold(): void {
    if (this.#folder !== undefined) return;
    const { path } = this.#options;
    // Windows cannot open a folder, and does not use its number again.
    const handle = process.platform === 'win32' ? undefined : openSync(path, 'r');
    this.#folder = { identity: identityOf(path), handle };
  }

  /** When no file waits in the folder. */
  release(): void {
    if (this.#folder?.handle !== undefined) closeSync(this.#folder.handle);
    this.#folder = undefined;
  }

  add(name: string, { transitionId, digest }: DeliveryKey): void {
    this.#files.set(name, { transitionId, digest });
  }

  /** This process has stored or refused it. */
  remove(name: string): void {
    this.#files.delete(name);
  }

  /** What happened to the folder while deliveries waited in it, and what to do; undefined if it is the same. */
  get change(): string | undefined {
    if (this.#folder === undefined) return undefined;
    const { path } = this.#options;
    const found = identityOf(path);
    if (found === this.#folder.identity) return undefined;
    return (
      `The folder of the spool, ${path}, ${found === undefined ? 'is missing' : 'is another folder'}: it was moved, removed or ` +
      `replaced while ${this.#use} it. Put it back with its files. If they are gone, ask the service ` +
      'for the transactions of that time. Callbacks are kept there again when it is back, or when the database is available.'
    );
  }

  get #use(): string {
    const count = this.#files.size;
    if (count === 0) return 'this program used';
    return count === 1 ? 'an acknowledged callback waited in' : `${count} acknowledged callbacks waited in`;
  }

  /** Acknowledged deliveries are gone, or the folder that they wait in. */
  get isLost(): boolean {
    return this.#gone > 0 || (this.#files.size > 0 && this.change !== undefined);
  }

  /** @throws If the folder has changed, which is reported once. */
  check(): void {
    const { change } = this;
    if (change === undefined) return;
    if (change !== this.#reported) warn(this.#options.settings.report, 'spool_lost', change);
    this.#reported = change;
    throw new FolderChanged(change);
  }

  /**
   * Asks the store for those that are missing, and reports those that it does not have.
   *
   * @param written The `names` before the folder was read.
   * @param found The names in the folder.
   * @returns The code of the error if the store cannot be asked now.
   */
  async lookFor(written: readonly string[], found: readonly string[]): Promise<string | undefined> {
    const here = new Set(found.map((name) => name.replace(REFUSED, '')));
    const missing = written.filter((name) => !here.has(name));
    const gone: string[] = [];
    let failure: string | undefined;
    while (missing.length > 0 && failure === undefined) {
      const asked = missing.splice(0, MAX_ASKED).flatMap((name) => {
        const key = this.#files.get(name);
        return key === undefined ? [] : [{ name, key }];
      });
      try {
        const notKept = new Set(await this.#options.notKept(asked.map(({ key }) => key)));
        gone.push(...asked.filter(({ key }) => notKept.has(key)).map(({ name }) => name));
        for (const { name } of asked) this.#files.delete(name);
      } catch (error) {
        failure = failureCode(error);
      }
    }
    if (gone.length > 0) this.#reportGone(gone);
    return failure;
  }

  #reportGone(names: readonly string[]): void {
    const { path, settings } = this.#options;
    this.#gone += names.length;
    settings.emit({ name: 'spool.lost', count: names.length });
    const times = names.map((name) => Number(DELIVERY.exec(name)?.[2])).sort((one, other) => one - other);
    const [from, to] = [times.at(0), times.at(-1)].map((ms) => new Date(ms ?? 0).toISOString());
    const message =
      `Of the callbacks that were acknowledged and kept in the folder ${path}, ${names.length} cannot be found: their files were ` +
      `removed, and the database does not have them. They arrived between ${from} and ${to}. Put the files back in the folder, ` +
      'and they are stored. If they are gone, ask the service for the transactions of that time. health() reports spool_lost ' +
      'until this program is started again.';
    warn(settings.report, 'spool_lost', message);
  }
}
