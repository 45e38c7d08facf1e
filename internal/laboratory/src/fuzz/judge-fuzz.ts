import { judge, type Result, told } from '../measure/results.ts';
import { figure, type Table } from '../measure/tables.ts';
import type { Counts } from './count.ts';
import { type Injectivity, judgeInjectivity } from './injective.ts';
import type { Caught } from './naive-verifiers.ts';
import type { Comparison } from './python.ts';
import type { RuntimeSample } from './runtimes.ts';
import { FAULTS, type Fault } from './subject.ts';

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
  const none = (name: string, unit: string, count: number): Result => judge(name, unit, count, 'exactly', 0);
  return [
    wanted === undefined
      ? told('inputs', 'inputs', inputs)
      : judge('inputs', 'inputs', inputs, 'at least', wanted),
    judge('accepted, or one edit from it', '%', (100 * (accepted + near)) / inputs, 'at least', 30),
    told('accepted', '%', (100 * accepted) / inputs),
    ...Object.entries(FAULTS).map(([fault, name]) => none(name, 'inputs', faults[fault as Fault])),
    none('naive verifiers that were not caught', 'verifiers', missed.length),
    told('structures of fast-check', 'inputs', structures.inputs),
    none('structures with another verdict', 'inputs', structures.failure === undefined ? 0 : 1),
    ...(typeof python === 'string'
      ? []
      : [
          told('judged in Python as well', 'inputs', python.inputs),
          none('differences between the two second verifiers', 'inputs', python.differences.length),
        ]),
    none('digests and runtimes that differ', 'runtimes', others.length),
    ...judgeInjectivity(injectivity),
    told('processor time of an input, judged twice', 'µs', (1000 * cpuMs) / inputs),
  ];
}

export function fuzzTables({ counts, caught, runtimes, injectivity }: Fuzzed): readonly Table[] {
  const verdicts = Object.entries(counts.verdicts).sort(([, a], [, b]) => b - a);
  return [
    {
      title: 'Verdicts',
      head: ['verdict', 'inputs', 'share'],
      rows: verdicts.map(([code, often]) => {
        return [code, figure(often), `${((100 * often) / counts.inputs).toFixed(2)} %`];
      }),
    },
    {
      title: 'Controls: naive verifiers',
      head: ['verifier', 'false accepts', 'false refusals', ''],
      rows: caught.map((one) => [one.name, String(one.falseAccepts), String(one.falseRefusals), '']),
    },
    {
      title: 'Digests and runtimes',
      head: ['runtime', 'inputs', 'faults', 'verdicts as on node:crypto'],
      rows: runtimes.map(({ name, inputs, faults, isSame }) => {
        return [name, String(inputs), String(faults), isSame ? 'yes' : 'no'];
      }),
    },
    {
      title: 'Readings of signed strings',
      head: ['rule', 'readings', 'accepted', 'strings with two', ''],
      rows: injectivity.map(({ rule, ...counted }) => [rule, ...Object.values(counted).map(String), '']),
    },
  ];
}
