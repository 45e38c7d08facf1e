import { defineConfig, type UserConfig } from 'tsdown';

const config: UserConfig = defineConfig({
  entry: {
    index: 'src/index.ts',
    receive: 'src/receive/index.ts',
    client: 'src/client/index.ts',
    testing: 'src/testing.ts',
    'digest.node': 'src/verify/digest.node.ts',
    'digest.portable': 'src/verify/digest.portable.ts',
  },
  format: ['esm', 'cjs'],
  dts: true,
  platform: 'neutral',
  // Resolved where the package runs: node:crypto in Node, the portable digest elsewhere.
  deps: { neverBundle: ['#digest', /^node:/] },
});
export default config;
