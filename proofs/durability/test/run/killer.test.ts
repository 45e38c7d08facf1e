import { expect, onTestFinished, test } from 'vitest';
import type { SeededRandom } from '../../src/history/seeded-random.ts';
import { ManagedProcess } from '../../src/merchant/managed-process.ts';
import { PHASES, type Phase } from '../../src/merchant/phase-log.ts';
import { Killer } from '../../src/run/killer.ts';

const SETTINGS = { role: 'worker', database: { store: 'sqlite', path: '' } } as const;

/** Enters every phase again and again, and dies in the given ones. */
class Busy extends ManagedProcess {
  readonly #deaths: Phase[];
  override isReady = true;

  constructor(deaths: readonly Phase[]) {
    super(SETTINGS, { folder: '', onFailure: () => undefined });
    this.#deaths = [...deaths];
    const entering = setInterval(() => PHASES.map((phase) => this.emit(phase)), 1);
    onTestFinished(() => clearInterval(entering));
  }

  override start(): void {}

  override async kill(): Promise<Phase> {
    return this.#deaths.shift() ?? 'idle';
  }
}

/** Aims at a phase. */
const FIRST: SeededRandom = { next: () => 0.9, between: (least) => least, pick: ([item]) => item as never };
/** At any moment. */
const LAST: SeededRandom = { ...FIRST, pick: (items) => items.at(-1) as never };
const TOPOLOGY = { faults: [], strike: async () => 0, heal: async () => undefined };

test.each<[what: string, more: number, random: SeededRandom, deaths: Phase[]]>([
  ['that hits its moment', 0, FIRST, ['handler']],
  ['that misses its moment twice', 2, FIRST, ['idle', 'idle', 'commit']],
  ['that always misses', 3, FIRST, ['idle', 'idle', 'idle', 'idle']],
  ['at any moment', 0, LAST, ['idle']],
])('a kill %s is followed by %i more', async (_, more, random, deaths) => {
  const { signal } = new AbortController();
  const killer = new Killer({ processes: [new Busy(deaths)], topology: TOPOLOGY, random, signal });
  const kills = await killer.kill();
  expect(kills).toHaveLength(1 + more);
  expect(kills.map(({ phase }) => phase)).toEqual(deaths);
});
