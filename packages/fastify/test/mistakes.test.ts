import { SIGNING_KEY, testMistakes } from '@payment-service/conformance';
import fastify from 'fastify';
import { paymentCallbacks } from '../src/index.ts';

testMistakes('fastify', {
  'an app that answers 503 while it closes': [
    () =>
      fastify()
        .register(paymentCallbacks({ signingKey: SIGNING_KEY, onCallback: () => undefined }), {
          prefix: '/payments/callbacks',
        })
        .ready(),
    'Fastify answers genuine callbacks with 503 while it closes',
    'Pass return503OnClosing: false to fastify().',
  ],
});
