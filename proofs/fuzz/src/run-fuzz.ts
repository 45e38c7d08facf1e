import { readFile, writeFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { atTheEnd, stopped } from '@payment-service/durability/measure/program.ts';
import { type Counts, countBatch, noCounts } from './count.ts';
import { minimise } from './minimise.ts';
import { asVector, type Subject } from './subject.ts';

export interface Run {
  readonly seed: number;
  /** How many inputs to judge, including those of earlier parts of the run. */
  readonly count: number;
  /** When to end before that, in milliseconds since 1970. */
  readonly until: number;
  /** The file with the position to resume from, which also receives the position where this part ends. */
  readonly state: string | undefined;
}

interface State {
  readonly seed: number;
  /** The number of the next batch. */
  next: number;
  /** Processor time of all parts. */
  cpuMs: number;
  readonly counts: Counts;
  /** Each as JSON: what reproduces it, and the smallest input that still shows it. */
  readonly failures: string[];
}

const YIELD_AFTER = 500;
const MAX_FAILURES = 20;

/** Judges batch after batch, until there are enough inputs or the time is up. */
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
    for (let left = YIELD_AFTER; left > 0 && state.counts.inputs < run.count; left--) {
      const number = state.next++;
      countBatch(all, run.seed, number, state.counts, ({ fault, from, input }) => {
        if (state.failures.length >= MAX_FAILURES) return;
        const least = minimise(from.subject, input, fault);
        const told = { fault, seed: run.seed, batch: number, vector: asVector(from.subject.options, least) };
        state.failures.push(JSON.stringify(told));
      });
    }
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
