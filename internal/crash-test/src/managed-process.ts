import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { PHASE_LOG, type Phase, PhaseReader } from './phase-log.ts';

export type Role = 'receiver' | 'worker' | 'sender';

interface Ready {
  readonly ready: true;
  readonly address?: string;
}

/** A process of the test: started, watched through its phase log, killed, and started again. */
export class ManagedProcess extends EventEmitter<{ phase: [Phase]; message: [unknown]; ready: [] }> {
  readonly role: Role;
  readonly #settings: object;
  readonly #folder: string;
  readonly #onFailure: (error: Error) => void;
  #child: ChildProcess | undefined;
  #reader = new PhaseReader();
  #errors = '';
  #isExpected = false;
  /** Where it listens; undefined while it does not. */
  address: string | undefined;
  isReady = false;

  /** @param where.onFailure told when it ends without having been killed: no run goes on after that. */
  constructor(
    role: Role,
    settings: object,
    { folder, onFailure }: { readonly folder: string; readonly onFailure: (error: Error) => void },
  ) {
    super();
    this.role = role;
    this.#settings = settings;
    this.#folder = folder;
    this.#onFailure = onFailure;
  }

  start(): void {
    const program = join(import.meta.dirname, `${this.role}-process.ts`);
    const child = spawn(process.execPath, [program], {
      cwd: this.#folder,
      env: {
        ...process.env,
        CRASH_TEST_ROLE: JSON.stringify(this.#settings),
        // A process is started for each kill; it need not strip the same types each time.
        NODE_COMPILE_CACHE: join(this.#folder, 'compiled'),
      },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
    });
    this.#child = child;
    this.#reader = new PhaseReader();
    this.#isExpected = false;
    this.#errors = '';
    const log = child.stdio[PHASE_LOG];
    log?.on('data', (piece: Buffer) =>
      this.#reader.read(piece.toString(), (phase) => this.emit('phase', phase)),
    );
    child.stderr?.on('data', (piece: Buffer) => {
      this.#errors = (this.#errors + piece.toString()).slice(-4000);
    });
    child.on('message', (message) => this.#onMessage(message));
    child.on('close', (code) => {
      if (this.#child === child) this.#child = undefined;
      this.isReady = false;
      this.address = undefined;
      if (!this.#isExpected && code !== 0)
        this.#onFailure(new Error(`A ${this.role} ended by itself with ${code}:\n${this.#errors}`));
    });
  }

  #onMessage(message: unknown): void {
    if (isReadyMessage(message)) {
      this.address = message.address;
      this.isReady = true;
      this.emit('ready');
    } else this.emit('message', message);
  }

  get phase(): Phase {
    return this.#reader.phase;
  }

  /** The database is gone, and with it what this process was at. */
  forgetPhases(): void {
    this.#reader.forget();
  }

  send(message: object): void {
    if (this.#child?.connected === true) this.#child.send(message);
  }

  /** Kills it, by its own id, and says what it was at when it died. */
  async kill(): Promise<Phase> {
    const child = this.#child;
    if (child === undefined) return 'idle';
    this.#isExpected = true;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    this.isReady = false;
    this.address = undefined;
    // Closed means that its pipes are read to the end.
    await closed;
    return this.#reader.phase;
  }

  /** Lets it end by itself. */
  async end(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const closed = once(child, 'close');
    child.send({ stop: true });
    await closed;
  }
}

function isReadyMessage(message: unknown): message is Ready {
  return typeof message === 'object' && message !== null && Reflect.get(message, 'ready') === true;
}
