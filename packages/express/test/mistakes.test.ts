import type { IncomingMessage, ServerResponse } from 'node:http';
import { SIGNING_KEY, sendCallback, serve, testMistakes } from '@payment-service/conformance';
import express, { type RequestHandler } from 'express';
import { type ExpressHandler, paymentCallbacks } from '../src/index.ts';

type App = (request: IncomingMessage, response: ServerResponse) => void;

/** What the sender, or a developer who looks at the answer, sees of a callback. */
const answered = async (app: App): Promise<string> =>
  (await sendCallback(`${await serve(app)}/payments/callbacks`)).text();
const route = (): ExpressHandler =>
  paymentCallbacks({ signingKey: SIGNING_KEY, onCallback: () => undefined });
/** Middleware that reads the body and keeps nothing, as some loggers do. */
const reader: RequestHandler = (request, _response, next) => {
  request.on('data', () => undefined).on('end', () => next());
};

testMistakes('express', {
  'paymentCallbacks without its call': [
    () => answered(express().use('/payments/callbacks', paymentCallbacks as never)),
    'paymentCallbacks() does not know the option',
    'call it yourself, with its options.',
  ],
  'middleware that reads the body before the route': [
    () => answered(express().use(reader).use('/payments/callbacks', route())),
    'other middleware, or a second paymentCallbacks(), has already read the request body',
    'Mount paymentCallbacks() once, before other middleware, or use a JSON body parser.',
  ],
});
