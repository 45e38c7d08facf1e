import { namesOfCore } from '@payment-service/conformance/names-of-core';
import { defineConfig, type UserConfig } from 'tsdown';
import { moduleForTracers } from '../../tsdown.shared.ts';

const config: UserConfig = defineConfig({
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  dts: true,
  platform: 'neutral',
  footer: moduleForTracers,
  plugins: [namesOfCore],
});
export default config;
