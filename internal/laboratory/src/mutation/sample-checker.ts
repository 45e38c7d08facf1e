import { isInSample, type Sample } from './sample.ts';

/**
 * A checker of Stryker, which asks it before it tries a fault: those outside of the sample are passed over as if they did not
 * compile, which is in no score.
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
