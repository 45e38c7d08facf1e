import { AsyncLocalStorage } from 'node:async_hooks';

/** Tells, in whatever a handler calls, that a handler is running. */
export const handlerScope: AsyncLocalStorage<true> = new AsyncLocalStorage();
