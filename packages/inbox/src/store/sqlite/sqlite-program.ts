/**
 * The program of the thread. The build puts its text in place of this file (tsdown.config.ts): a bundler, a file tracer or a
 * package manager can lose a file that is only started.
 */
export const sqliteProgram: URL | string = new URL('./sqlite-thread.ts', import.meta.url);
