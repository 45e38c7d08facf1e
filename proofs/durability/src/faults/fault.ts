import type { Request } from '../history/judge-history.ts';
import type { Result } from '../measure/results.ts';
import type { ManagedProcess } from '../merchant/managed-process.ts';
import type { Database, Topology } from '../topology/topology.ts';

/** A fault that a run has besides its kills. */
export interface Fault {
  /** The database as the merchant's programs reach it. @default as the topology says */
  readonly database?: Database;
  /** The environment of a receiver or worker, by its number. */
  readonly env?: (index: number) => NodeJS.ProcessEnv;
  /** How often it strikes, spread over the kills. @default 0 */
  readonly times?: number;
  /** Causes the fault, between two kills, under load. */
  strike?(at: number): Promise<void>;
  /** Whether the fault really happened: without it, the run proves nothing. */
  happened(seen: Seen): Promise<readonly Result[]>;
}

export interface Seen {
  readonly requests: readonly Request[];
  readonly processes: readonly ManagedProcess[];
}

/** What a fault is built from. */
export interface FaultParts {
  readonly topology: Topology;
  /** The folder of the run, on a disk that is never full. */
  readonly folder: string;
  /** The value of `--other`. */
  readonly other: string | undefined;
}

/** A window of time, in milliseconds of the monotonic clock. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** The number of requests, in windows of time, whose response promised nothing. */
export function unanswered({ requests }: Seen, windows: readonly Window[]): number {
  const isIn = (time: number): boolean => windows.some(({ from, to }) => time >= from && time <= to);
  return requests.filter(({ answer, began }) => answer === 'none' && isIn(began)).length;
}

/** Loads a program before each of the merchant's programs. */
export function preloaded(program: string, env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { ...env, NODE_OPTIONS: `--import=${new URL(program, import.meta.url).href}` };
}
