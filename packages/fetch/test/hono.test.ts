import { testAdapter } from '@payment-service/conformance';
import { hono } from './hono-application.ts';

testAdapter(
  'hono, its request',
  hono(({ req }) => req.raw),
);
testAdapter(
  'hono, its context',
  hono((context) => context),
);
