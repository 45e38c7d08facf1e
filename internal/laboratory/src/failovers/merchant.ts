import { setTimeout as wait } from 'node:timers/promises';
import { ManagedProcess, type ProcessParts } from '../crashes/managed-process.ts';
import type { ReceiverSettings } from '../crashes/receiver-process.ts';
import type { WorkerSettings } from '../crashes/worker-process.ts';

/** The merchant's programs, which are those of the crash test: receivers and workers, two of each. Nothing may end them. */
export class Merchant {
  readonly #programs: readonly ManagedProcess[];
  #failure: Error | undefined;

  private constructor(url: string, folder: string) {
    const database = { store: 'postgres', url } as const;
    const receiver: ReceiverSettings = { database, spool: undefined };
    const worker: WorkerSettings = { database, isControl: false, isDraining: false };
    const onFailure: ProcessParts['onFailure'] = (error) => {
      this.#failure ??= error;
    };
    const roles = [['receiver', receiver] as const, ['worker', worker] as const];
    this.#programs = [...roles, ...roles].map(
      ([role, settings]) => new ManagedProcess(role, settings, { folder, onFailure }),
    );
  }

  static async start(url: string, folder: string): Promise<Merchant> {
    const merchant = new Merchant(url, folder);
    for (const program of merchant.#programs) program.start();
    for (; !merchant.#programs.every(({ isReady }) => isReady); await wait(20)) merchant.check();
    return merchant;
  }

  /** Of the receivers. */
  get addresses(): readonly string[] {
    return this.#programs.flatMap(({ address }) => address ?? []);
  }

  /** Codes of the warnings that the inboxes gave. */
  get warnings(): readonly string[] {
    return this.#programs.flatMap(({ warnings }) => warnings);
  }

  /** @throws {Error} when one of them has ended: no failover may do that. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async end(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.kill()));
  }
}
