import { writeSync } from 'node:fs';

/** The descriptor of the pipe to the parent. */
export const PHASE_LOG = 4;

/**
 * The phases of a process, from the worst moment to be killed to the best:
 * - `commit`: a handler has returned, and its transaction is being committed;
 * - `handler`: a handler runs, inside its transaction;
 * - `intake`: a callback is being kept, and not acknowledged yet;
 * - `idle`: none of these.
 */
export type Phase = 'commit' | 'handler' | 'intake' | 'idle';

/**
 * Tells the parent before anything else happens. What is written into the pipe stays there when this process is killed, so the
 * parent knows exactly in which phase it was.
 */
export function enterPhase(phase: Phase, id: string): void {
  writeSync(PHASE_LOG, `${phase} ${id}\n`);
}

/** Reads a phase log, in chunks as they arrive. */
export class PhaseReader {
  readonly #open = new Map<string, Phase>();
  #rest = '';

  /** @param onPhase called with each phase that is entered. */
  read(piece: string, onPhase: (phase: Phase) => void): void {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const [name, id = ''] = line.split(' ');
      const phase = PHASES.find((one) => one === name);
      if (phase === undefined) throw new Error(`The phase log contains a line that means nothing: ${line}`);
      if (phase === 'idle') this.#open.delete(id);
      else this.#open.set(id, phase);
      onPhase(phase);
    }
  }

  /** The worst phase that is under way. */
  get phase(): Phase {
    const open = [...this.#open.values()];
    return PHASES.find((phase) => open.includes(phase)) ?? 'idle';
  }

  /** Nothing is under way any more: the database is gone, and every transaction with it. */
  forget(): void {
    this.#open.clear();
  }
}

export const PHASES: readonly Phase[] = ['commit', 'handler', 'intake', 'idle'];
