import { join } from 'node:path';
import type { Timed } from '../load/in-concert.ts';
import { Child } from '../measure/child.ts';
import type { ContenderId, Engines } from './contender.ts';
import type { ContenderRequest } from './contender-process.ts';

/** A contender in a process of its own. */
export interface HostedContender {
  readonly id: ContenderId;
  readonly port: number;
  readonly pid: number;
  /** Calls it directly, without HTTP. */
  store(prefix: string, count: number, concurrency: number): Promise<Timed>;
  count(): Promise<number>;
  close(): Promise<void>;
}

export async function hostContender(id: ContenderId, engines: Engines): Promise<HostedContender> {
  const child = new Child(join(import.meta.dirname, 'contender-process.ts'));
  const ask = <A>(request: ContenderRequest): Promise<A> => child.ask(request);
  const port = await ask<number>({ kind: 'open', id, engines });
  return {
    id,
    port,
    pid: child.pid,
    store: (prefix, count, concurrency) => ask({ kind: 'store', prefix, count, concurrency }),
    count: () => ask({ kind: 'count' }),
    async close() {
      await ask({ kind: 'close' });
      await child.end();
    },
  };
}
