import { readFile, writeFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { atTheEnd, stopped } from '@payment-service/durability/measure/program.ts';
import fc from 'fast-check';
import { type Batch, batches } from './batch.ts';
import {
  asVector,
  FAULTS,
  type Fault,
  faultOf,
  type Subject,
  secondVerdict,
  type Vector,
} from './subject.ts';

export interface Run {
  readonly seed: number;
  /** How many inputs to judge, including those of earlier parts of the run. */
  readonly count: number;
  /** When to end before that, in milliseconds since 1970. */
  readonly until: number;
  /** The file with the position to resume from, which also receives the position where this part ends. */
  readonly state: string | undefined;
}

/** What a run has seen so far, as JSON so that it can be saved. */
export interface Counts {
  inputs: number;
  accepted: number;
  /** Refused inputs that are one edit away from an accepted one. */
  near: number;
  /** By code. */
  verdicts: Record<string, number>;
  faults: Record<Fault, number>;
}

interface State {
  readonly seed: number;
  /** The number of the next part. */
  next: number;
  /** Processor time of all parts. */
  cpuMs: number;
  readonly counts: Counts;
  /** Each as JSON: what reproduces it, and the smallest structure that still shows it. */
  readonly failures: string[];
}

const STRUCTURES = 200;
const MAX_FAILURES = 20;

/** The seed of a part alone determines its structures, so a run can resume anywhere. */
export function seedOf(seed: number, part: number): number {
  return Math.imul(seed, 0x9e3779b1) ^ part;
}

/** Judges part after part, until there are enough inputs or the time is up. */
export async function runFuzz(all: readonly Subject[], run: Run): Promise<State> {
  const state = await goOn(run);
  const before = state.cpuMs;
  const started = process.cpuUsage();
  const save = async (): Promise<void> => {
    const { user, system } = process.cpuUsage(started);
    state.cpuMs = before + (user + system) / 1000;
    if (run.state !== undefined) await writeFile(run.state, JSON.stringify(state));
  };
  atTheEnd(save);
  // Most refused bodies are errors of JSON.parse, whose stack traces would cost more than the verdict.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  let shown = Date.now();
  while (state.counts.inputs < run.count && Date.now() < run.until && !stopped.aborted) {
    judgePart(all, state);
    if (state.failures.length >= MAX_FAILURES) break;
    await setImmediate();
    if (Date.now() - shown < 10_000) continue;
    shown = Date.now();
    await save();
    console.log(`  ${state.counts.inputs.toLocaleString('en')} inputs, ${state.failures.length} failures`);
  }
  Error.stackTraceLimit = stackTraceLimit;
  await save();
  return state;
}

/** fast-check ends a part at its first failure, and shrinks the structure of that one. */
function judgePart(all: readonly Subject[], state: State): void {
  const part = state.next++;
  let failure: Failure | undefined;
  const property = fc.property(batches(all), (batch) => {
    const found = judgeBatch(batch, failure === undefined ? state.counts : noCounts());
    failure = found ?? failure;
    return found === undefined;
  });
  const checked = fc.check(property, { seed: seedOf(state.seed, part), numRuns: STRUCTURES });
  if (checked.failed && failure === undefined) throw checked.errorInstance;
  if (failure !== undefined) state.failures.push(JSON.stringify({ ...failure, seed: state.seed, part }));
}

interface Failure {
  readonly fault: Fault;
  readonly vector: Vector;
}

/** Returns the first failure. */
function judgeBatch({ from, candidates }: Batch, counts: Counts): Failure | undefined {
  let first: Failure | undefined;
  let isAccepted = false;
  for (const { input, edits } of candidates) {
    const right = secondVerdict(from, input);
    const fault = faultOf(from, input, right);
    const { code } = right;
    if (edits === 0) isAccepted = code === 'ok';
    counts.inputs++;
    if (code === 'ok') counts.accepted++;
    else if (edits === 1 && isAccepted) counts.near++;
    counts.verdicts[code] = (counts.verdicts[code] ?? 0) + 1;
    if (fault === undefined) continue;
    counts.faults[fault]++;
    first ??= { fault, vector: asVector(from.options, input) };
  }
  from.second.forget();
  return first;
}

function noCounts(): Counts {
  const none = FAULTS.map((fault) => [fault, 0]);
  const faults = Object.fromEntries(none) as Counts['faults'];
  return { inputs: 0, accepted: 0, near: 0, verdicts: {}, faults };
}

async function goOn({ seed, state }: Run): Promise<State> {
  const fresh = { seed, next: 0, cpuMs: 0, counts: noCounts(), failures: [] };
  if (state === undefined) return fresh;
  let saved: State;
  try {
    saved = JSON.parse(await readFile(state, 'utf8'));
  } catch {
    return fresh;
  }
  if (saved.seed === seed) return saved;
  throw new Error(
    `${state} belongs to a run with the seed ${saved.seed}. Use --seed ${saved.seed}, or another --state.`,
  );
}
