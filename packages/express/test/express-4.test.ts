import { createServer } from 'node:http';
import {
  type Application,
  READER_LIMIT_BYTES,
  type Reader,
  testAdapter,
  testBridges,
} from '@payment-service/adapter-conformance';
import express from 'express4';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

const readers: Readonly<Record<Reader, express.RequestHandler>> = {
  json: express.json({ limit: READER_LIMIT_BYTES }),
  text: express.text({ type: 'application/json', limit: READER_LIMIT_BYTES }),
  bytes: express.raw({ type: 'application/json', limit: READER_LIMIT_BYTES }),
  'nothing kept': (request, _response, next) => {
    request.resume().once('end', next);
  },
};

const application: Application = {
  callbacks({ path, options, before, after, handle }) {
    const app = express();
    if (before) app.use(readers[before]);
    app.use(path, paymentCallbacks(options));
    if (after) app.use(readers[after]);
    app.use(path, (request, response, next) => {
      handle?.(request.paymentCallback).then((text) => response.status(202).type('text').send(text), next);
    });
    return createServer(app);
  },
  redirects({ path, options, handle }) {
    const app = express();
    app.use(path, paymentRedirects(options));
    app.use(path, (request, response, next) => {
      handle?.(request.paymentRedirect).then((text) => response.status(202).type('text').send(text), next);
    });
    return createServer(app);
  },
};

testAdapter('express 4', application);
testBridges('express 4', application);
