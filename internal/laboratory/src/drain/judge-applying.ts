import { ratio, type Spread, spread } from '../measure/measure.ts';
import { judge, type Result, told } from '../measure/results.ts';
import { type Applied, type AppliedSlices, sliceName } from './measure-applying.ts';

/**
 * What is possible: the inbox does what the floor does, and reads the case, marks its transaction and takes a lock besides.
 * On SQLite each of its messages to the thread costs as much as some statements.
 */
const OVER_FLOOR = 0.6;
const OVER_GRAPHILE = 1;
const OVER_SQLITE_FLOOR = 0.4;
const MAX_POSTGRES_CPU_MS = 0.9;
const MAX_WAL_BYTES = 1600;
const MAX_STATEMENTS = 7;

/** The rates and costs of all contenders; ratios are taken within each round. */
export function judgeApplying(slices: AppliedSlices): readonly Result[] {
  const results = [...slices.keys()].map((name) => told(name, 'per second', of(slices, name, 'perSecond')));
  const atLeast = (name: string, own: string, over: string, target: number): void => {
    const measured = ratio(rates(slices, own), rates(slices, over));
    results.push(judge(name, 'ratio', measured, 'at least', target));
  };
  for (const concurrency of [4, 10]) {
    const [inbox, floor, graphile] = ['inbox', 'floor', 'graphile-worker'].map((name) =>
      sliceName(name, concurrency),
    ) as [string, string, string];
    atLeast(`${inbox}, over the floor`, inbox, floor, OVER_FLOOR);
    atLeast(`${inbox}, over graphile-worker`, inbox, graphile, OVER_GRAPHILE);
    const costs = [
      ['postgresCpuMs', 'ms of PostgreSQL', MAX_POSTGRES_CPU_MS],
      ['walBytes', 'bytes of WAL', MAX_WAL_BYTES],
      ['statements', 'statements', MAX_STATEMENTS],
      ['nodeCpuMs', 'ms of Node', null],
    ] as const;
    for (const name of [inbox, floor, graphile]) {
      for (const [cost, unit, most] of costs) {
        const measured = of(slices, name, cost);
        results.push(
          name === inbox && most !== null
            ? { ...judge(name, unit, roundedCost(measured.median), 'at most', most), value: measured.median }
            : told(name, unit, measured),
        );
      }
    }
  }
  const [inbox, floor] = [sliceName('inbox, SQLite', 1), sliceName('floor, SQLite', 1)];
  atLeast(`${inbox}, over its floor`, inbox, floor, OVER_SQLITE_FLOOR);
  return results;
}

/** find_due is shared by a window of payments, and the meter's own statement by a slice. */
function roundedCost(value: number): number {
  return Math.round(value * 10) / 10;
}

function rates(slices: AppliedSlices, name: string): readonly number[] {
  return figures(slices, name, 'perSecond');
}

function of(slices: AppliedSlices, name: string, what: keyof Applied): Spread {
  return spread(figures(slices, name, what));
}

function figures(slices: AppliedSlices, name: string, what: keyof Applied): readonly number[] {
  const own = slices.get(name);
  if (own === undefined) throw new Error(`Not measured: ${name}.`);
  return own.map((slice) => slice[what]);
}
