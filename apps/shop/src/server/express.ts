import type { RequestListener } from 'node:http';
import { paymentCallbacks, paymentRedirects } from '@payment-service/express';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import type { Shop } from '../shop.ts';
import { errorPage, type Page, problemPage } from '../web/page.ts';

/** The shop on Express 5. */
export function mountOnExpress(shop: Shop): RequestListener {
  const app = express();
  app.disable('x-powered-by').disable('etag');

  app.use(shop.inboxConsole);
  app.use('/payments/callbacks', paymentCallbacks(shop.callbacks));
  app.get('/orders/:reference/redirect', paymentRedirects(shop.redirects), async (request, response) => {
    send(response, await shop.customerIsBack(request.paymentRedirect, request.headers.cookie));
  });

  const readForm = express.text({ type: 'application/x-www-form-urlencoded', limit: '16kb' });
  for (const { method, path, refuse, answer } of shop.routes) {
    const guard: RequestHandler = async (request, response, next) => {
      const refused = await refuse(request.headers);
      return refused === undefined ? next() : send(response, refused);
    };
    app[method](path, guard, readForm, async (request: Request, response: Response) => {
      const { originalUrl: url, params, headers, body: form } = request;
      send(response, await answer({ url, params, headers, form }));
    });
  }

  app.use(async (_request, response) => send(response, await problemPage(404)));
  // Express knows an error handler by its four parameters.
  app.use(async (error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    send(response, await errorPage(error, shop.log));
  });
  return app;
}

function send(response: Response, { status, headers, body }: Page): void {
  response.status(status).set(headers).send(body);
}
