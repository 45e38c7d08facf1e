import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { Child } from '../measure/child.ts';
import type { MerchantSettings } from './merchant-process.ts';
import { PHASE_LOG, type Phase, PhaseReader } from './phase-log.ts';

export interface ProcessParts {
  readonly folder: string;
  /** Called if the process ends without having been killed; no run continues after that. */
  readonly onFailure: (error: Error) => void;
}

type Role = MerchantSettings['role'];

export function ofRole(processes: readonly ManagedProcess[], role: Role): readonly ManagedProcess[] {
  return processes.filter(({ settings }) => settings.role === role);
}

/** A process of the merchant: started, watched through its phase log, killed, and started again. Emits the phases it enters. */
export class ManagedProcess extends EventEmitter<Record<Phase, []>> {
  readonly settings: MerchantSettings;
  readonly #parts: ProcessParts;
  #child: Child | undefined;
  #reader = new PhaseReader();
  #isExpected = false;
  /** The address where it listens; undefined while it does not. */
  address: string | undefined;
  isReady = false;
  /** The codes of the warnings that it has printed. */
  readonly warnings: string[] = [];

  constructor(settings: MerchantSettings, parts: ProcessParts) {
    super();
    this.settings = settings;
    this.#parts = parts;
  }

  start(): void {
    const { folder } = this.#parts;
    const child = new Child(join(import.meta.dirname, 'merchant-process.ts'), {
      cwd: folder,
      // A process is started for each kill and need not strip the same types each time. A killed process stores nothing.
      env: { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...process.env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
    });
    const { stdio, stderr } = child.process;
    this.#child = child;
    this.#reader = new PhaseReader();
    this.#isExpected = false;
    let errors = '';
    stdio[PHASE_LOG]?.on('data', (piece: Buffer) =>
      this.#reader.read(piece.toString(), (phase) => this.emit(phase)),
    );
    stderr?.on('data', (piece: Buffer) => {
      errors = (errors + piece.toString()).slice(-4000);
      for (const [, code = ''] of piece.toString().matchAll(/\[([A-Z_]+)\] \w*Warning/g))
        this.warnings.push(code);
    });
    child.process.on('close', () => {
      if (this.#child === child) this.#child = undefined;
      this.#forgetAddress();
      this.#fail(`it ended:\n${errors}`);
    });
    child.ask<string | undefined>(this.settings).then(
      (address) => {
        this.address = address;
        this.isReady = this.#child === child;
      },
      (error: unknown) => (child.hasEnded ? undefined : this.#fail(String(error))),
    );
  }

  get phase(): Phase {
    return this.#reader.phase;
  }

  /** The database is gone, and with it the work of this process. */
  forgetPhases(): void {
    this.#reader.forget();
  }

  /** Kills it, by its own id, and returns the phase in which it died. */
  async kill(): Promise<Phase> {
    if (this.#child === undefined) return 'idle';
    this.#forgetAddress();
    await this.#closed((child) => child.kill());
    return this.#reader.phase;
  }

  /** Lets it finish its work. */
  async end(): Promise<void> {
    await this.#closed((child) => child.ask({ stop: true }));
  }

  /** Once closed, its pipes have been read to the end. */
  async #closed(act: (child: Child) => Promise<unknown>): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#isExpected = true;
    const closed = once(child.process, 'close');
    await act(child);
    await closed;
  }

  #forgetAddress(): void {
    this.isReady = false;
    this.address = undefined;
  }

  #fail(why: string): void {
    if (!this.#isExpected) this.#parts.onFailure(new Error(`A ${this.settings.role} failed: ${why}`));
  }
}
