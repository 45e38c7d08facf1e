import { quantile } from '@payment-service/measure';
import type { Latencies } from './measure-latency.ts';

/** One figure and its bound, as the report holds it. */
export interface LatencyResult {
  readonly name: string;
  readonly value: number;
  readonly unit: 'ms';
  /** Null for a figure that is only told. */
  readonly target: number | null;
  readonly bound: 'at most' | 'above' | 'none';
  readonly met: boolean;
}

const TARGET_MS = 5;

/** Median and 99th percentile of each; the median is held to the target on `pg`, and the control must miss it. */
export function judgeLatency(latencies: Latencies): readonly LatencyResult[] {
  return [...latencies].flatMap(([name, own]): LatencyResult[] => {
    if (own.length === 0) throw new Error(`Not measured: ${name}.`);
    const [p50, p99] = [quantile(own, 0.5), quantile(own, 0.99)];
    const told = { unit: 'ms', target: null, bound: 'none', met: true } as const;
    const held = { name: `p50: ${name}`, value: p50, unit: 'ms', target: TARGET_MS } as const;
    const median: LatencyResult = name.startsWith('pg, not listening')
      ? { ...held, bound: 'above', met: p50 > TARGET_MS }
      : name.startsWith('pg,')
        ? { ...held, bound: 'at most', met: p50 <= TARGET_MS }
        : { ...told, name: held.name, value: p50 };
    return [median, { ...told, name: `p99: ${name}`, value: p99 }];
  });
}
