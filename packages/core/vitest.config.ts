import { defineConfig, type Plugin, type ViteUserConfig } from 'vitest/config';
import { SHARED } from '../../vitest.shared.ts';

const PORTABLE = 'test/**/*.portable.test.ts';

/**
 * Takes the condition `node` away, as a bundler for browsers and workers does: '#digest' is the portable one. As a
 * plugin, since vitest adds its own conditions to those of the configuration.
 */
const withoutNodeCondition: Plugin = {
  name: 'without-node-condition',
  enforce: 'post',
  configEnvironment(_name, { resolve }) {
    if (resolve?.conditions) resolve.conditions = resolve.conditions.filter((name) => name !== 'node');
  },
};

const config: ViteUserConfig = defineConfig({
  test: {
    projects: [
      {
        test: {
          ...SHARED,
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: [PORTABLE],
        },
      },
      {
        plugins: [withoutNodeCondition],
        test: { ...SHARED, name: 'portable', include: [PORTABLE] },
      },
    ],
  },
});
export default config;
