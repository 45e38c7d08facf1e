import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { SeededRandom } from '../history/seeded-random.ts';
import { type ManagedProcess, ofRole } from '../merchant/managed-process.ts';
import { PHASES, type Phase } from '../merchant/phase-log.ts';
import type { Topology } from '../topology/topology.ts';

export interface Kill {
  readonly target: 'receiver' | 'worker' | 'server';
  /** The phase in which it died; for the server, the worst phase of its clients. */
  readonly phase: Phase;
}

export interface KillerOptions {
  readonly processes: readonly ManagedProcess[];
  readonly topology: Pick<Topology, 'faults' | 'strike' | 'heal'>;
  readonly random: SeededRandom;
  /** Once aborted, nothing more is killed. */
  readonly signal: AbortSignal;
}

/** How long to wait for a phase; after that, any moment will do. */
const AIM_MS = 5000;
/** While the cores are busy, the phase may be over when the signal arrives. */
const MAX_TRIES = 4;
/** What to kill, and in which phase: most kills aim at critical moments. */
const AIMS: Readonly<Record<Kill['target'], readonly (Phase | 'any')[]>> = {
  receiver: ['intake', 'intake', 'any'],
  worker: ['handler', 'handler', 'commit', 'commit', 'any'],
  server: ['handler', 'commit', 'any'],
};

/** Kills receivers, workers and the database server, one after another, and starts them again. */
export class Killer {
  readonly #options: KillerOptions;
  #restarting: Promise<void> = Promise.resolve();
  #isServerUp = true;

  constructor(options: KillerOptions) {
    this.#options = options;
  }

  /** One kill, and another one if the moment it was aimed at has passed. */
  async kill(): Promise<readonly Kill[]> {
    const { processes, topology, random, signal } = this.#options;
    const kills: Kill[] = [];
    for (let isMissed = true; isMissed && kills.length < MAX_TRIES; ) {
      const point = random.next();
      const canStrike = topology.faults.length > 0 && this.#isServerUp;
      const target = canStrike && point < 0.12 ? 'server' : point < 0.45 ? 'receiver' : 'worker';
      const aim = random.pick(AIMS[target]);
      const victim = await this.#aim(target === 'receiver' ? target : 'worker', aim);
      const under = processes.map((one) => one.phase);
      let phase = PHASES.find((one) => under.includes(one)) ?? 'idle';
      if (target === 'server') await this.#strike();
      else {
        phase = await victim.kill();
        signal.throwIfAborted();
        victim.start();
      }
      kills.push({ target, phase });
      isMissed = aim !== 'any' && phase === 'idle';
    }
    return kills;
  }

  /** Resolves when the server is up again; rejects if it does not start. */
  async settled(): Promise<void> {
    await this.#restarting;
  }

  async #strike(): Promise<void> {
    const { processes, topology, random } = this.#options;
    this.#isServerUp = false;
    await topology.strike(random.pick(topology.faults));
    for (const one of processes) one.forgetPhases();
    this.#restarting = topology.heal().then(() => {
      this.#isServerUp = true;
    });
    // The server may be down for a while, during which the others are killed too; a failure shows in settled().
    this.#restarting.catch(() => undefined);
  }

  /** Waits until a process of this role reaches the moment, and returns it. */
  async #aim(role: 'receiver' | 'worker', aim: Phase | 'any'): Promise<ManagedProcess> {
    const { processes, random, signal } = this.#options;
    const ready = (): readonly ManagedProcess[] => ofRole(processes, role).filter(({ isReady }) => isReady);
    for (; ready().length === 0; await wait(10)) signal.throwIfAborted();
    const candidates = ready();
    if (aim === 'any') await wait(random.next() * 200);
    const found = aim === 'any' ? undefined : await nextInPhase(candidates, aim);
    // Immediately, or a little later, to also hit what follows the start of the phase.
    if (random.next() < 0.3) await wait(random.next() * 3);
    return found ?? random.pick(candidates);
  }
}

/** The first process to enter the phase; undefined if none does in time. */
async function nextInPhase(
  candidates: readonly ManagedProcess[],
  aim: Phase,
): Promise<ManagedProcess | undefined> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(AIM_MS)]);
  const entering = candidates.map((one) => once(one, aim, { signal }).then(() => one));
  return Promise.any(entering)
    .catch(() => undefined)
    .finally(() => over.abort());
}
