import { testMistakes } from '@payment-service/conformance';
import fastify from 'fastify';
import { paymentCallbacks } from '../src/index.ts';

testMistakes('fastify', {
  'paymentCallbacks without its call': [
    () => fastify().register(paymentCallbacks as never).ready(),
    'paymentCallbacks() does not know the option',
    'call it yourself, with its options.',
  ],
});
