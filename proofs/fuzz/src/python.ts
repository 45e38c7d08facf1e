import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installed } from '@payment-service/durability/measure/daemon.ts';
import type { Batch } from './batch.ts';
import { asVector, secondVerdict } from './subject.ts';

interface Comparison {
  readonly inputs: number;
  readonly differences: readonly string[];
}

/**
 * Judges a sample with the verifier in Python as well.
 *
 * @returns a sentence if Python is missing.
 */
export function compareWithPython(sample: readonly Batch[]): Comparison | string {
  const missing = installed('python3');
  if (missing !== undefined) return missing;
  const judged = sample.flatMap(({ from, candidates }) =>
    candidates.map(({ input }) => {
      const right = secondVerdict(from, input);
      const verdict =
        'fields' in right
          ? ['ok', right.fields, right.keyId || null, right.unit]
          : [right.code, right.authentic];
      return { vector: JSON.stringify(asVector(from.options, input)), verdict: JSON.stringify(verdict) };
    }),
  );
  const program = join(import.meta.dirname, '..', 'second_verifier.py');
  const input = judged.map(({ vector }) => `${vector}\n`).join('');
  const { stdout, stderr } = spawnSync('python3', [program], { input, encoding: 'utf8', maxBuffer: 2 ** 30 });
  const lines = stdout.trimEnd().split('\n');
  if (lines.length !== judged.length) throw new Error(`The verifier in Python ended early: ${stderr}`);
  const differences = judged.flatMap(({ vector, verdict }, index) => {
    const theirs = JSON.stringify(JSON.parse(lines[index] ?? ''));
    return theirs === verdict ? [] : [`${vector}: ${theirs}, and here ${verdict}`];
  });
  return { inputs: judged.length, differences };
}
