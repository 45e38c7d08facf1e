import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type HostileMount, serveHostile } from '@payment-service/conformance/hostile-server';
import express5 from 'express';
import express4 from 'express4';
import { type ExpressHandler, paymentCallbacks, paymentRedirects } from '../src/index.ts';

interface App {
  (request: IncomingMessage, response: ServerResponse): void;
  /** The common part of both majors' types. */
  use(path: string, handler: ExpressHandler): unknown;
}

const express = (create: () => App): HostileMount => ({
  http1: ({ callbacks, redirects }) => {
    const app = create();
    for (const { path, options } of callbacks) app.use(path, paymentCallbacks(options));
    app.use(redirects.path, paymentRedirects(redirects.options));
    return createServer(app);
  },
});

await serveHostile({ 'express 4': express(express4), 'express 5': express(express5) });
