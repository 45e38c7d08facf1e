import { batch } from './batch.ts';
import { NAIVE } from './naive-verifiers.ts';
import { type Subject, secondVerdict } from './subject.ts';

/** What was caught of one naive verifier. */
export interface Caught {
  readonly name: string;
  readonly falseAccepts: number;
  readonly falseRefusals: number;
}

/** Judges the naive verifiers on the first inputs of the run, as core is judged. */
export function catchNaive(all: readonly Subject[], seed: number, inputs: number): readonly Caught[] {
  const caught = Object.keys(NAIVE).map((name) => ({ name, falseAccepts: 0, falseRefusals: 0 }));
  const naive = new Map(all.map((subject) => [subject, Object.values(NAIVE).map((make) => make(subject))]));
  let judged = 0;
  for (let number = 0; judged < inputs; number++) {
    const { from, fill } = batch(all, seed, number);
    fill((input) => {
      const isGenuine = secondVerdict(from.subject, input).code === 'ok';
      naive.get(from.subject)?.forEach((accepts, index) => {
        const isAccepted = accepts(input);
        const one = caught[index];
        if (one !== undefined && isAccepted && !isGenuine) one.falseAccepts++;
        if (one !== undefined && !isAccepted && isGenuine) one.falseRefusals++;
      });
      judged++;
    });
    from.subject.second.forget();
  }
  return caught;
}
