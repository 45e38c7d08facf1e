/** For Stryker: the tests that judge a part, in the copy of their packages. plant-faults.ts says which. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineConfig, type Plugin, type ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const { MUTATION_CHECKOUT = '', MUTATION_TESTS = '[]', MUTATION_POSTGRES = '' } = process.env;
const copy = join(import.meta.dirname, '..', '..', '..');
const include: string[] = JSON.parse(MUTATION_TESTS);
const isPortable = include.every((test) => test.includes('.portable.'));

/** What one package imports from another is in the copy as well, if the faults are there. */
const fromCopy: Plugin = {
  name: 'from-copy',
  enforce: 'pre',
  async resolveId(id, importer, options) {
    const found = await this.resolve(id, importer, { ...options, skipSelf: true });
    const path = relative(MUTATION_CHECKOUT, found?.id ?? '');
    return path.startsWith('packages') && existsSync(join(copy, path)) ? join(copy, path) : found;
  },
};

/** As in packages/core: '#digest' is the portable one. */
const withoutNodeCondition: Plugin = {
  name: 'without-node-condition',
  enforce: 'post',
  configEnvironment(_name, { resolve }) {
    if (resolve?.conditions) resolve.conditions = resolve.conditions.filter((name) => name !== 'node');
  },
};

/** In alphabetical order: in core, the short tests of the rules run before the threats and the 915 vectors. */
class ByName extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => one.moduleId.localeCompare(other.moduleId));
  }
}

const config: ViteUserConfig = defineConfig({
  root: copy,
  plugins: isPortable ? [fromCopy, withoutNodeCondition] : [fromCopy],
  test: {
    include,
    exclude: isPortable ? [] : ['**/*.portable.test.ts'],
    provide: { postgresUrl: MUTATION_POSTGRES },
    isolate: false,
    sequence: { sequencer: ByName },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
export default config;
