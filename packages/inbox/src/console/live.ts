import { hash } from 'node:crypto';
import type { Inbox } from '../inbox.ts';
import { TRANSITION_STATES } from '../states.ts';
import { isFromOwnOrigin } from './access.ts';
import { plainResponse } from './pages/page.ts';

const POLL_MS = 2000;
/** Slow polls are made less often: they use at most a twentieth of the time. */
const SHARE = 20;
/** How long a stream lasts. Then a browser opens another one, and `authorize` is called again. */
const STREAM_MS = 60_000;
const MAX_STREAMS = 100;
/** The last change of each state, and new transitions. Pending ones are not ordered by their changes. */
const LISTED = TRANSITION_STATES.map((state) => (state === 'pending' ? undefined : state));

/** An open page. */
interface Listener {
  readonly endsAt: number;
  readonly mayRead: () => Promise<boolean>;
  /** The version that it knows. */
  told: string;
}

/** Notifies open pages of changes. */
export interface Live {
  /** The version of the inbox: its last change. */
  version(): Promise<string>;
  /** @param mayRead Whether the visitor still has access: asked before each message, and a stream lasts a minute at most. */
  stream(request: Request, mayRead: () => Promise<boolean>): Promise<Response>;
}

/** All streams of a process share one poll, which runs only while there are streams. */
export function createLive<Tx>(inbox: Inbox<Tx>): Live {
  const streams = new Map<ReadableStreamDefaultController<Uint8Array>, Listener>();
  let isScheduled = false;

  const version = async (): Promise<string> => {
    const newest = await Promise.all(LISTED.map((state) => inbox.list({ state, limit: 1 })));
    const last = newest.flat().map(({ transitionId, changedAt }) => [changedAt.getTime(), transitionId]);
    return hash('sha256', JSON.stringify(last)).slice(0, 16);
  };
  const event = (of: string): Uint8Array => Buffer.from(`data: ${of}\n\n`);
  const end = (stream: ReadableStreamDefaultController<Uint8Array>): void => {
    streams.delete(stream);
    stream.close();
  };
  const poll = async (): Promise<void> => {
    const start = performance.now();
    for (const [stream, { endsAt }] of streams) if (endsAt <= start) end(stream);
    // The pages show that the connection is lost and try again: their requests report the cause.
    const changed = await version().catch(() => undefined);
    for (const [stream, listener] of streams) {
      if (changed === listener.told) continue;
      const isAllowed = changed !== undefined && (await listener.mayRead().catch(() => false));
      if (!streams.has(stream)) continue; // The page was left meanwhile.
      if (!isAllowed) {
        end(stream);
        continue;
      }
      listener.told = changed;
      stream.enqueue(event(changed));
    }
    isScheduled = false;
    schedule(Math.max(POLL_MS, SHARE * (performance.now() - start)));
  };
  const schedule = (ms: number): void => {
    if (streams.size === 0 || isScheduled) return;
    isScheduled = true;
    setTimeout(() => void poll(), ms).unref();
  };

  return {
    version,
    async stream(request, mayRead) {
      // A page of another site cannot read it, but could occupy all connections that a browser opens to one server.
      if (request.headers.has('sec-fetch-site') && !isFromOwnOrigin(request)) return plainResponse(403);
      if (streams.size >= MAX_STREAMS) return plainResponse(503);
      const told = await version();
      let own: ReadableStreamDefaultController<Uint8Array>;
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          own = controller;
          streams.set(own, { endsAt: performance.now() + STREAM_MS, mayRead, told });
          own.enqueue(event(told));
          schedule(POLL_MS);
        },
        cancel: () => void streams.delete(own),
      });
      const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
      return new Response(body, { headers: { ...headers, 'content-type': 'text/event-stream' } });
    },
  };
}
