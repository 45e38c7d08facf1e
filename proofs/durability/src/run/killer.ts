import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { SeededRandom } from '../history/seeded-random.ts';
import { type ManagedProcess, ofRole } from '../merchant/managed-process.ts';
import { PHASES, type Phase } from '../merchant/phase-log.ts';
import type { Topology } from '../topology/topology.ts';

export type Target = 'receiver' | 'worker' | 'server';

export interface Kill {
  readonly target: Target;
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
const AIMS: Readonly<Record<Target, readonly (Phase | 'any')[]>> = {
  receiver: ['intake', 'intake', 'any'],
  worker: ['handler', 'handler', 'commit', 'commit', 'any'],
  server: ['handler', 'commit', 'intake', 'any'],
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
    const kills: Kill[] = [];
    for (let isMissed = true; isMissed && kills.length < MAX_TRIES; ) {
      const target = this.#chooseTarget();
      const aim = this.#options.random.pick(AIMS[target]);
      const phase = await (target === 'server' ? this.#killServer(aim) : this.#killProcess(target, aim));
      kills.push({ target, phase });
      isMissed = aim !== 'any' && phase === 'idle';
    }
    return kills;
  }

  /** Resolves when the server is up again; rejects if it does not start. */
  async settled(): Promise<void> {
    await this.#restarting;
  }

  #chooseTarget(): Target {
    const { topology, random } = this.#options;
    const canKillServer = topology.faults.length > 0 && this.#isServerUp;
    const point = random.next();
    if (canKillServer && point < 0.12) return 'server';
    return point < 0.45 ? 'receiver' : 'worker';
  }

  async #killProcess(target: Exclude<Target, 'server'>, aim: Phase | 'any'): Promise<Phase> {
    const victim = await this.#aim(await this.#ready(target), aim);
    const phase = await victim.kill();
    this.#options.signal.throwIfAborted();
    victim.start();
    return phase;
  }

  async #killServer(aim: Phase | 'any'): Promise<Phase> {
    const { processes, topology, random } = this.#options;
    await this.#aim(await this.#ready('worker'), aim === 'intake' ? 'any' : aim);
    const under = processes.map((one) => one.phase);
    const phase = PHASES.find((one) => under.includes(one)) ?? 'idle';
    this.#isServerUp = false;
    await topology.strike(random.pick(topology.faults));
    for (const one of processes) one.forgetPhases();
    this.#restarting = topology.heal().then(() => {
      this.#isServerUp = true;
    });
    // The server may be down for a while, during which the others are killed too; a failure shows in settled().
    this.#restarting.catch(() => undefined);
    return phase;
  }

  async #ready(role: 'receiver' | 'worker'): Promise<readonly ManagedProcess[]> {
    for (;;) {
      const ready = ofRole(this.#options.processes, role).filter((one) => one.isReady);
      if (ready.length > 0) return ready;
      this.#options.signal.throwIfAborted();
      await wait(10);
    }
  }

  /** Waits for the moment, and returns the process that has reached it. */
  async #aim(candidates: readonly ManagedProcess[], aim: Phase | 'any'): Promise<ManagedProcess> {
    const { random } = this.#options;
    if (aim === 'any') {
      await wait(random.next() * 200);
      return random.pick(candidates);
    }
    const found = await nextInPhase(candidates, aim);
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
