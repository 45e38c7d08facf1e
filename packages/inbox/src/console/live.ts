import { createHash } from 'node:crypto';
import type { Inbox } from '../inbox.ts';
import { TRANSITION_STATES } from '../states.ts';
import { isFromOwnOrigin } from './access.ts';
import { plainResponse } from './pages/page.ts';

const POLL_MS = 2000;
/** Slow polls are made less often: they use at most a twentieth of the time. */
const SHARE = 20;
/** After it a browser opens another stream, and `authorize` is called again. */
const STREAM_MS = 60_000;
const MAX_STREAMS = 100;
/** The last change of each state, and new transitions. Pending ones are not ordered by their changes. */
const LISTED = TRANSITION_STATES.map((state) => (state === 'pending' ? undefined : state));

/** Notifies open pages of changes. */
export interface Live {
  /** The version of the inbox: its last change. */
  version(): Promise<string>;
  stream(request: Request): Promise<Response>;
}

/** All streams of a process share one poll; without a stream there is none. */
export function createLive<Tx>(inbox: Inbox<Tx>): Live {
  const streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const encoder = new TextEncoder();
  let isScheduled = false;

  const version = async (): Promise<string> => {
    const newest = await Promise.all(LISTED.map((state) => inbox.list({ state, limit: 1 })));
    const last = newest.flat().map(({ transitionId, changedAt }) => [changedAt.getTime(), transitionId]);
    return createHash('sha256').update(JSON.stringify(last)).digest('hex').slice(0, 16);
  };
  const endAll = (): void => {
    for (const stream of streams) stream.close();
    streams.clear();
  };
  const poll = async (): Promise<void> => {
    const start = performance.now();
    try {
      const event = encoder.encode(`data: ${await version()}\n\n`);
      for (const stream of streams) stream.enqueue(event);
    } catch {
      // The pages show that the connection is lost and try again: their requests report the cause.
      endAll();
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
    async stream(request) {
      // A page of another site cannot read it, but could occupy all connections that a browser opens to one server.
      if (request.headers.has('sec-fetch-site') && !isFromOwnOrigin(request)) return plainResponse(403);
      if (streams.size >= MAX_STREAMS) return plainResponse(503);
      const first = encoder.encode(`data: ${await version()}\n\n`);
      let leave = (): void => {};
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          streams.add(controller);
          controller.enqueue(first);
          const end = setTimeout(() => {
            if (streams.delete(controller)) controller.close();
          }, STREAM_MS).unref();
          leave = () => {
            clearTimeout(end);
            streams.delete(controller);
          };
          schedule(POLL_MS);
        },
        cancel: () => leave(),
      });
      const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
      return new Response(body, { headers: { ...headers, 'content-type': 'text/event-stream' } });
    },
  };
}
