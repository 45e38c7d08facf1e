/** For tests of every page: the workspace exports it, and the published package does not. */
export { addresses } from './console.ts';
