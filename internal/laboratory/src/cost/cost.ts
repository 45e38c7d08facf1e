/**
 * `pnpm lab cost`: the processor time and live heap that hostile inputs cost, beside the decoding that any receiver of them must do.
 * Inputs come from a grammar with a fixed seed, in sizes that double. Prints a table, writes reports/cost.json, and ends with 1
 * where a bound is missed. The controls, the quadratic query parser and the promise for each piece of a body of earlier versions,
 * must exceed the bounds. `--short`: the largest size only, one round, and every eighth
 * shape; `--sizes 1` alone keeps all shapes.
 */
import { runBenchmark } from '../measure/program.ts';
import { judge, told } from '../measure/results.ts';
import { figure, type Table, withRange } from '../measure/tables.ts';
import { CHANNELS, quadraticQuery } from './channels.ts';
import { type Cost, compare, costsOf, costsOfPieces, type PieceCost } from './measure-cost.ts';

/** Times the floor. */
const BOUND = 1.5;
const MAX_HEAP = 4;
const FULL = { rounds: 7, sampleMs: 8, sizes: 4, bodies: 20, pieces: [1, 2, 7, 64, 1000, 64_000] };
const SHORT = { rounds: 1, sampleMs: 1, sizes: 1, bodies: 4, pieces: [1] };

await runBenchmark('cost', { full: FULL, short: SHORT }, async (pace, isShort) => {
  const costs: Cost[] = [];
  for (const channel of CHANNELS) costs.push(...(await costsOf(channel, pace, isShort)));
  const pieces = await costsOfPieces(pace.pieces, pace.bodies);
  const text = `?${'a&'.repeat(8000)}`;
  const control = await compare(
    () => quadraticQuery(text),
    () => new URLSearchParams(text).size,
    { text, bytes: Buffer.from(text) },
    pace,
  );
  const unfinished = Math.max(...pieces.map(({ own }) => own));
  const promises = pieces[0]?.control ?? Number.NaN;
  const results = [
    ...CHANNELS.flatMap(({ name }) => {
      const own = costs.filter(({ channel }) => channel === name);
      const dearest = own.reduce((a, b) => (a.ratio.median > b.ratio.median ? a : b));
      const largest = Math.max(...own.map(({ heap }) => heap));
      return [
        judge(`${name}: the dearest shape`, 'times the floor', dearest.ratio, 'at most', BOUND),
        judge(`${name}: live heap above the floor's`, 'times the input', largest, 'at most', MAX_HEAP),
      ];
    }),
    judge('unfinished body: live heap', 'times the input', unfinished, 'at most', MAX_HEAP),
    judge('control: the quadratic query', 'times the floor', control.ratio, 'above', BOUND),
    judge('control: a promise for each piece', 'times the input', promises, 'above', MAX_HEAP),
    told('shapes and sizes', 'inputs', costs.length),
  ];
  return { results, costs, pieces, tables: [costTable(costs), growthTable(costs), pieceTable(pieces)] };
});

/** The dearest shapes of each channel. */
function costTable(costs: readonly Cost[]): Table {
  const byChannel = Map.groupBy(costs, ({ channel }) => channel);
  return {
    title: 'The dearest inputs: processor time in times of the floor',
    head: ['', 'size', 'times the floor', 'microseconds', 'heap', 'shape'],
    rows: [...byChannel].flatMap(([name, own]) => {
      const dearest = own.sort((a, b) => b.ratio.median - a.ratio.median).slice(0, 6);
      return dearest.map(({ size, ratio, microseconds, heap, shape }) => {
        return [name, String(size), withRange(ratio), figure(microseconds), figure(heap), shape];
      });
    }),
  };
}

/** Twice the input must not cost much more than twice the time. */
function growthTable(costs: readonly Cost[]): Table {
  const growths = costs.flatMap(({ channel, shape, size, microseconds }) => {
    const half = costs.find((one) => one.channel === channel && one.shape === shape && one.size * 2 === size);
    return half === undefined ? [] : [{ channel, shape, size, growth: microseconds / half.microseconds }];
  });
  const steepest = growths.sort((a, b) => b.growth - a.growth).slice(0, 8);
  return {
    title: 'The steepest growth for twice the size',
    head: ['', 'from', 'to', 'times', 'shape'],
    rows: steepest.map(({ channel, shape, size, growth }) => {
      return [channel, String(size / 2), String(size), figure(growth), shape];
    }),
  };
}

function pieceTable(pieces: readonly PieceCost[]): Table {
  return {
    title: 'Unfinished bodies of 64,000 bytes: live heap in times of what has arrived',
    head: ['bytes in a piece', 'own', 'a promise for each piece', ''],
    rows: pieces.map(({ pieceBytes, own, control }) => {
      return [String(pieceBytes), figure(own), figure(control), ''];
    }),
  };
}
