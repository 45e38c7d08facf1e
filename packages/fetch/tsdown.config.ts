import { namesOfCore } from '@payment-service/conformance/names-of-core';
import { defineConfig, type UserConfig } from 'tsdown';
import { ADAPTER } from '../../tsdown.shared.ts';

const config: UserConfig = defineConfig({ ...ADAPTER, plugins: [namesOfCore] });
export default config;
