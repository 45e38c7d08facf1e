import { assetResponse } from '@payment-service/pages';
import { Hono } from 'hono';
import { fail } from '../http/envelope.ts';
import type { Service } from '../service/service.ts';

/** What pages load: the style sheet, the icon, the live modules, and the stream that reports changes. */
export function createLive(service: Service): Hono {
  const app = new Hono();
  app.get('/assets/:name', async (c) => (await assetResponse(c.req.param('name'))) ?? c.notFound());
  app.get('/events', (c) => {
    // A page of another site cannot read it, but could occupy all connections that a browser opens to one server.
    const site = c.req.header('sec-fetch-site') ?? 'none';
    if (site !== 'same-origin' && site !== 'none')
      return fail(c, 403, "The stream is for the sandbox's own pages.");
    return c.body(streamOf(service), 200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // The server closes once its connections have ended, and nothing else would end this one.
      connection: 'close',
    });
  });
  return app;
}

/** The version of the state, now and after every change. It ends when the sandbox is closed. */
function streamOf({ changes }: Service): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let leave = (): void => {};
  return new ReadableStream({
    start(controller) {
      const send = (): void => controller.enqueue(encoder.encode(`data: ${changes.version}\n\n`));
      const end = (): void => controller.close();
      if (changes.ended.aborted) return end();
      const unsubscribe = changes.subscribe(send);
      changes.ended.addEventListener('abort', end);
      leave = () => {
        unsubscribe();
        changes.ended.removeEventListener('abort', end);
      };
      send();
    },
    cancel: () => leave(),
  });
}
