import { createServer } from 'node:http';
import { createGunzip } from 'node:zlib';
import { READER_LIMIT_BYTES, testAdapter, testBridges } from '@payment-service/conformance';
import express5 from 'express';
import express4 from 'express4';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

/** Both majors, whose types differ. */
function testExpress(name: string, express: typeof express4): void {
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
  const application: Parameters<typeof testAdapter>[1] = {
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
  testAdapter(name, application);
  testBridges(name, application);
}

testExpress('express 4', express4);
testExpress('express 5', express5 as never);
