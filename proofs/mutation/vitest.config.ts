export { default } from '../durability/vitest.config.ts';
