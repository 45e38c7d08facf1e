import type { Size } from './callback-bodies.ts';

/** An upper bound for the time of one contender over that of another, both by name. */
export interface Target {
  readonly size: Size;
  readonly contender: string;
  readonly over: string;
  readonly atMost: number;
}

/** docs/benchmarks.md says from which figures, and with which margin, each bound was chosen. */
export const TARGETS: readonly Target[] = [
  { size: 'typical', contender: 'core', over: 'floor', atMost: 3 },
  { size: 'typical', contender: 'core', over: 'stripe', atMost: 2 },
  { size: 'typical', contender: 'core', over: 'standardwebhooks', atMost: 1 },
  { size: 'typical', contender: 'portable', over: 'standardwebhooks', atMost: 1.25 },
  { size: '60 KiB', contender: 'core', over: 'stripe', atMost: 1.1 },
];
