import { quantile } from '../measure/measure.ts';
import { judge, type Result, told } from '../measure/results.ts';
import type { Latencies } from './measure-latency.ts';

const TARGET_MS = 5;

/** Median and 99th percentile of each; the median is held to the target on `pg`, and the control must miss it. */
export function judgeLatency(latencies: Latencies): readonly Result[] {
  return [...latencies].flatMap(([name, own]) => {
    if (own.length === 0) throw new Error(`Not measured: ${name}.`);
    const bound = name.startsWith('pg, not listening') ? 'above' : 'at most';
    const [p50, p99] = [quantile(own, 0.5), quantile(own, 0.99)];
    return [
      name.startsWith('pg,')
        ? judge(`p50: ${name}`, 'ms', p50, bound, TARGET_MS)
        : told(`p50: ${name}`, 'ms', p50),
      told(`p99: ${name}`, 'ms', p99),
    ];
  });
}
