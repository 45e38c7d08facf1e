import { sendCallback, serve, testMistakes } from '@payment-service/conformance';
import Koa from 'koa';
import { paymentCallbacks } from '../src/index.ts';

testMistakes('koa', {
  'paymentCallbacks without its call': [
    async () => sendCallback(await serve(new Koa().use(paymentCallbacks as never).callback())),
    'paymentCallbacks() does not know the option',
    'call it yourself, with its options.',
  ],
});
