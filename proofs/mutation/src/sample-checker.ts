import { isInSample, type Sample } from './sample.ts';

/**
 * A checker, which Stryker asks before it tries a fault: faults outside the sample are skipped as if they did not compile,
 * which no score includes.
 */
class SampleChecker {
  readonly #sample: Sample = JSON.parse(process.env['MUTATION_SAMPLE'] ?? '{}');

  async init(): Promise<void> {}

  async check(faults: readonly { readonly id: string }[]): Promise<Record<string, object>> {
    const verdict = (id: string): object =>
      isInSample(id, this.#sample)
        ? { status: 'passed' }
        : { status: 'compileError', reason: 'not in the sample' };
    return Object.fromEntries(faults.map(({ id }) => [id, verdict(id)]));
  }
}

export const strykerPlugins: readonly object[] = [
  { kind: 'Checker', name: 'sample', injectableClass: SampleChecker },
];
