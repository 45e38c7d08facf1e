import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installed } from '@payment-service/durability/measure/daemon.ts';
import { batch } from './batch.ts';
import { asVector, type Input, type Subject, secondVerdict } from './subject.ts';

const PROGRAM = join(import.meta.dirname, '..', 'second_verifier.py');

export interface Comparison {
  readonly inputs: number;
  readonly differences: readonly string[];
}

/**
 * Judges a sample with the verifier in Python as well.
 *
 * @returns a sentence if Python is missing.
 */
export function compareWithPython(
  all: readonly Subject[],
  seed: number,
  inputs: number,
): Comparison | string {
  const missing = installed('python3');
  if (missing !== undefined) return missing;
  const vectors: string[] = [];
  const verdicts: string[] = [];
  for (let number = 0; vectors.length < inputs; number++) {
    const { from, fill } = batch(all, seed, number);
    fill((input: Input) => {
      const verdict = secondVerdict(from.subject, input);
      vectors.push(JSON.stringify(asVector(from.subject.options, input)));
      verdicts.push(
        JSON.stringify(
          'fields' in verdict
            ? ['ok', verdict.fields, verdict.keyId === '' ? null : verdict.keyId, verdict.unit]
            : [verdict.code, verdict.authentic],
        ),
      );
    });
    from.subject.second.forget();
  }
  const { stdout, stderr } = spawnSync('python3', [PROGRAM], {
    input: `${vectors.join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  const lines = stdout.trimEnd().split('\n');
  if (lines.length !== vectors.length) throw new Error(`The verifier in Python ended early: ${stderr}`);
  const differences = lines.flatMap((line, index) => {
    const theirs = JSON.stringify(JSON.parse(line));
    return theirs === verdicts[index] ? [] : [`${vectors[index]}: ${theirs}, and here ${verdicts[index]}`];
  });
  return { inputs: vectors.length, differences };
}
