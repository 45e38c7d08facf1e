import { batch } from './batch.ts';
import type { Original } from './originals.ts';
import { FAULTS, type Fault, faultOf, type Input, type Subject, secondVerdict } from './subject.ts';

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

export interface Failure {
  readonly fault: Fault;
  readonly from: Original;
  readonly input: Input;
}

export function noCounts(): Counts {
  const none = Object.keys(FAULTS).map((fault) => [fault, 0]);
  const faults = Object.fromEntries(none) as Counts['faults'];
  return { inputs: 0, accepted: 0, near: 0, verdicts: {}, faults };
}

/** Judges core on one batch. */
export function countBatch(
  all: readonly Subject[],
  seed: number,
  number: number,
  counts: Counts,
  onFailure: (failure: Failure) => void,
): void {
  const { from, fill } = batch(all, seed, number);
  const { subject } = from;
  let isAccepted = false;
  fill((input, edits) => {
    const right = secondVerdict(subject, input);
    const fault = faultOf(subject.core, input, right);
    const { code } = right;
    if (edits === 0) isAccepted = code === 'ok';
    counts.inputs++;
    if (code === 'ok') counts.accepted++;
    else if (edits === 1 && isAccepted) counts.near++;
    counts.verdicts[code] = (counts.verdicts[code] ?? 0) + 1;
    if (fault === undefined) return;
    counts.faults[fault]++;
    onFailure({ fault, from, input });
  });
  subject.second.forget();
}
