import { PAGES } from './console.ts';

/** The addresses of the console, for tests of every page. The workspace exports it, and the published package does not. */
export const addresses: readonly string[] = Object.keys(PAGES);
