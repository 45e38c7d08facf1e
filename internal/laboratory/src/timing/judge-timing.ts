import { spread } from '../measure/measure.ts';
import { judge, type Result, told } from '../measure/results.ts';
import type { TimingRun } from './measure-timing.ts';
import type { Difference } from './welch.ts';

const LEAK = 4.5;
const SEEN = 10;

/** What was measured of a contender. */
interface Measured {
  readonly name: string;
  readonly isControl: boolean;
  readonly runs: readonly Pick<TimingRun, 'classes' | 'same'>[];
}

/** Judges the targets only where every control of the run held. */
export function judgeTiming(measured: readonly Measured[]): { isVoid: boolean; results: readonly Result[] } {
  const controls = measured.flatMap(({ name, isControl, runs }) => {
    const twice = runs.map((run) => run.same);
    const same = runsBelow(`${name}, the first class twice`, twice);
    const least = Math.min(...runs.map(({ classes }) => Math.abs(classes.t)));
    return isControl ? [same, judge(`${name}: least |t|`, '', least, 'above', SEEN)] : [same];
  });
  const isVoid = controls.some(({ met }) => !met);
  const targets = measured.flatMap(({ name, isControl, runs }) => {
    const classes = runs.map((run) => run.classes);
    const resolution = spread(classes.map(({ error }) => LEAK * error));
    return isControl || isVoid
      ? []
      : [runsBelow(name, classes), told(`${name}: the least difference that shows`, 'ns', resolution)];
  });
  return { isVoid, results: [...targets, ...controls] };
}

/** Four of five have to be. */
function runsBelow(name: string, runs: readonly Difference[]): Result {
  const below = runs.filter(({ t }) => Math.abs(t) < LEAK).length;
  return judge(`${name}: runs below ${LEAK}`, 'runs', below, 'at least', Math.ceil(0.8 * runs.length));
}
