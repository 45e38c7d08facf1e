import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { Child } from '../measure/child.ts';
import { PHASE_LOG, type Phase, PhaseReader } from './phase-log.ts';

export type Role = 'receiver' | 'worker';

export interface ProcessParts {
  readonly folder: string;
  /** Called if the process ends without having been killed; no run continues after that. */
  readonly onFailure: (error: Error) => void;
  /** The folder of its program. @default the folder of this file */
  readonly programs?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** A process of the test: started, watched through its phase log, killed, and started again. Emits the phases that it enters. */
export class ManagedProcess extends EventEmitter<Record<Phase, []>> {
  readonly role: Role;
  readonly #settings: object;
  readonly #parts: ProcessParts;
  #child: Child | undefined;
  #reader = new PhaseReader();
  #errors = '';
  #isExpected = false;
  /** The address where it listens; undefined while it does not. */
  address: string | undefined;
  isReady = false;
  /** The codes of the warnings that it has printed. */
  readonly warnings: string[] = [];
  /** How often it has entered each phase. */
  readonly entered: Record<Phase, number> = { commit: 0, handler: 0, intake: 0, idle: 0 };

  constructor(role: Role, settings: object, parts: ProcessParts) {
    super();
    this.role = role;
    this.#settings = settings;
    this.#parts = parts;
  }

  start(): void {
    const { folder, programs = import.meta.dirname, env } = this.#parts;
    const child = new Child(join(programs, `${this.role}-process.ts`), {
      cwd: folder,
      // A process is started for each kill and need not strip the same types each time. A killed process stores nothing.
      env: { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
    });
    const { stdio, stderr } = child.process;
    this.#child = child;
    this.#reader = new PhaseReader();
    this.#isExpected = false;
    this.#errors = '';
    stdio[PHASE_LOG]?.on('data', (piece: Buffer) =>
      this.#reader.read(piece.toString(), (phase) => {
        this.entered[phase] += 1;
        this.emit(phase);
      }),
    );
    stderr?.on('data', (piece: Buffer) => {
      this.#errors = (this.#errors + piece.toString()).slice(-4000);
      for (const [, code = ''] of piece.toString().matchAll(/\[([A-Z_]+)\] \w*Warning/g))
        this.warnings.push(code);
    });
    child.process.on('close', () => {
      if (this.#child === child) this.#child = undefined;
      this.isReady = false;
      this.address = undefined;
      this.#fail(`it ended:\n${this.#errors}`);
    });
    child.ask<string | undefined>(this.#settings).then(
      (address) => {
        this.address = address;
        this.isReady = this.#child === child;
      },
      (error: unknown) => (child.hasEnded ? undefined : this.#fail(String(error))),
    );
  }

  #fail(why: string): void {
    if (!this.#isExpected) this.#parts.onFailure(new Error(`A ${this.role} failed: ${why}`));
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
    const child = this.#child;
    if (child === undefined) return 'idle';
    this.isReady = false;
    this.address = undefined;
    await this.#closed(child, () => child.kill());
    return this.#reader.phase;
  }

  /** Lets it finish its work. */
  async end(): Promise<void> {
    const child = this.#child;
    if (child !== undefined) await this.#closed(child, () => child.ask({ stop: true }));
  }

  /** Once closed, its pipes have been read to the end. */
  async #closed(child: Child, act: () => Promise<unknown>): Promise<void> {
    this.#isExpected = true;
    const closed = once(child.process, 'close');
    await act();
    await closed;
  }
}
