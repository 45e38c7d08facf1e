import { PAGES } from './console.ts';

/**
 * The addresses of the console, without the patterns of their parameters, for tests of every page. The workspace exports it, and
 * the published package does not.
 */
export const addresses: readonly string[] = Object.keys(PAGES).map((one) => one.replace(/\{.*\}/, ''));
