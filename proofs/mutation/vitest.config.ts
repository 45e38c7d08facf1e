import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { SHARED } from '../../vitest.shared.ts';

const LONGEST = ['fuzz', 'failover-test', 'crash-test', 'mutation'].map((name) => `/${name}.proof.ts`);

/**
 * A clean checkout has no recorded durations. vitest then begins with the largest files, but the longest runs are in small
 * ones.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONGEST.some((name) => moduleId.endsWith(name));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const config: ViteUserConfig = defineConfig({
  // Whole runs, with processes and servers that are killed and restarted: a file mostly waits for them.
  test: {
    ...SHARED,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: availableParallelism() * 2 + 1,
    sequence: { sequencer: LongestFirst },
  },
});
export default config;
