import { judge, type Result, told } from '../measure/results.ts';
import type { Table } from '../measure/tables.ts';
import type { Caught } from './controls.ts';
import type { Counts } from './count.ts';
import { type Injectivity, judgeInjectivity } from './injective.ts';
import type { Comparison } from './python.ts';
import type { RuntimeSample } from './runtimes.ts';

/** Everything that a run has found. */
export interface Fuzzed {
  readonly counts: Counts;
  /** Undefined where a run of limited time may end before. */
  readonly wanted: number | undefined;
  readonly cpuMs: number;
  readonly caught: readonly Caught[];
  readonly structures: { readonly inputs: number; readonly failure: string | undefined };
  /** A sentence where Python is missing. */
  readonly python: Comparison | string;
  readonly runtimes: readonly RuntimeSample[];
  readonly injectivity: readonly Injectivity[];
}

export function judgeFuzz(fuzzed: Fuzzed): readonly Result[] {
  const { counts, wanted, cpuMs, caught, structures, python, runtimes, injectivity } = fuzzed;
  const { inputs, accepted, near, faults } = counts;
  const missed = caught.filter(({ falseAccepts, falseRefusals }) => falseAccepts + falseRefusals === 0);
  const others = runtimes.filter(({ faults, isSame }) => faults > 0 || !isSame);
  return [
    wanted === undefined
      ? told('inputs', 'inputs', inputs)
      : judge('inputs', 'inputs', inputs, 'at least', wanted),
    judge('accepted, or one edit from it', '%', (100 * (accepted + near)) / inputs, 'at least', 30),
    told('accepted', '%', (100 * accepted) / inputs),
    judge('false accepts', 'inputs', faults['false accept'], 'exactly', 0),
    judge('false refusals', 'inputs', faults['false refusal'], 'exactly', 0),
    judge('exceptions', 'inputs', faults.exception, 'exactly', 0),
    judge('accepted with other fields, key or unit', 'inputs', faults['another reading'], 'exactly', 0),
    judge('refused for another reason', 'inputs', faults['another reason'], 'exactly', 0),
    judge('naive verifiers that were not caught', 'verifiers', missed.length, 'exactly', 0),
    told('structures of fast-check', 'inputs', structures.inputs),
    judge(
      'structures with another verdict',
      'inputs',
      structures.failure === undefined ? 0 : 1,
      'exactly',
      0,
    ),
    ...(typeof python === 'string'
      ? []
      : [
          told('judged in Python as well', 'inputs', python.inputs),
          judge(
            'differences between the two second verifiers',
            'inputs',
            python.differences.length,
            'exactly',
            0,
          ),
        ]),
    judge('digests and runtimes that differ', 'runtimes', others.length, 'exactly', 0),
    ...judgeInjectivity(injectivity),
    told('processor time of an input, judged twice', 'µs', (1000 * cpuMs) / inputs),
  ];
}

export function fuzzTables({ counts, caught, runtimes, injectivity }: Fuzzed): readonly Table[] {
  const share = (part: number): string => `${((100 * part) / counts.inputs).toFixed(2)} %`;
  return [
    {
      title: 'Verdicts',
      head: ['verdict', 'inputs', 'share'],
      rows: Object.entries(counts.verdicts)
        .sort(([, a], [, b]) => b - a)
        .map(([code, often]) => [code, often.toLocaleString('en'), share(often)]),
    },
    {
      title: 'Controls: naive verifiers',
      head: ['verifier', 'false accepts', 'false refusals', ''],
      rows: caught.map(({ name, falseAccepts, falseRefusals }) => [
        name,
        `${falseAccepts}`,
        `${falseRefusals}`,
        '',
      ]),
    },
    {
      title: 'Digests and runtimes',
      head: ['runtime', 'inputs', 'faults', 'verdicts as on node:crypto'],
      rows: runtimes.map(({ name, inputs, faults, isSame }) => [
        name,
        `${inputs}`,
        `${faults}`,
        isSame ? 'yes' : 'no',
      ]),
    },
    {
      title: 'Readings of signed strings',
      head: ['rule', 'readings', 'accepted', 'strings with two', ''],
      rows: injectivity.map(({ rule, readings, accepted, shared }) => [
        rule,
        `${readings}`,
        `${accepted}`,
        `${shared}`,
        '',
      ]),
    },
  ];
}
