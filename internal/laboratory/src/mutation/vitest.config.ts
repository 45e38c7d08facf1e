/** For Stryker: the tests of a package, cut down to those that judge a part. plant-faults.ts says which. */
import { join } from 'node:path';
import { defineConfig, type Plugin, type ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const { MUTATION_PACKAGE = '', MUTATION_TESTS = '[]' } = process.env;
const include: string[] = JSON.parse(MUTATION_TESTS);

/** As in packages/core: '#digest' and '#inflate' are the portable ones. */
const withoutNodeCondition: Plugin = {
  name: 'without-node-condition',
  enforce: 'post',
  configEnvironment(_name, { resolve }) {
    if (resolve?.conditions) resolve.conditions = resolve.conditions.filter((name) => name !== 'node');
  },
};

/** In the order of their names: in core, the short tests of the rules first, which find most faults. */
class ByName extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => one.moduleId.localeCompare(other.moduleId));
  }
}

const config: ViteUserConfig = defineConfig({
  root: join(import.meta.dirname, '..', '..', '..', '..', MUTATION_PACKAGE),
  plugins: include.every((test) => test.includes('.portable.')) ? [withoutNodeCondition] : [],
  test: {
    include,
    exclude: include.some((test) => test.includes('.portable.')) ? [] : ['**/*.portable.test.ts'],
    isolate: false,
    sequence: { sequencer: ByName },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
export default config;
