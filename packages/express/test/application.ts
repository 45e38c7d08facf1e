import { createServer } from 'node:http';
import { createGunzip } from 'node:zlib';
import { type Application, READER_LIMIT_BYTES } from '@payment-service/conformance/application';
import express5 from 'express';
import express4 from 'express4';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

/** Both majors, whose types differ. */
function applicationOf(express: typeof express4): Application {
  const limit = READER_LIMIT_BYTES;
  const type = 'application/json';
  const readers: Readonly<Record<string, express4.RequestHandler>> = {
    json: express.json({ limit }),
    text: express.text({ type, limit }),
    bytes: express.raw({ type, limit }),
    'nothing kept': (request, _response, next) => {
      request.resume().once('end', next);
    },
    stream: (request, _response, next) => {
      request.body = request.pipe(createGunzip());
      next();
    },
  };
  return {
    callbacks({ path, options, before = '', after = '', handle }) {
      const app = express();
      if (readers[before]) app.use(readers[before]);
      app.use(path, paymentCallbacks(options));
      if (readers[after]) app.use(readers[after]);
      app.use(path, (request, response, next) => {
        handle?.(request.paymentCallback).then((text) => response.status(202).type('text').send(text), next);
      });
      return createServer(app);
    },
    redirects({ path, options, handle }) {
      const app = express().use(path, paymentRedirects(options));
      app.use(path, (request, response, next) => {
        handle?.(request.paymentRedirect).then((text) => response.status(202).type('text').send(text), next);
      });
      return createServer(app);
    },
  };
}

export const application4: Application = applicationOf(express4);
export const application5: Application = applicationOf(express5 as never);
