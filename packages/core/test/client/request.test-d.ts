import { expectTypeOf, test } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import type { RequestResult, Schema } from '../../src/client/request/request.ts';

// Compiled, never run: `tsc` is the test. The shape is that of openapi-typescript.
interface Paths {
  '/collections': {
    post: {
      parameters: { query?: { readonly dry?: boolean } };
      requestBody: {
        content: { 'application/json': { readonly reference: string; readonly amount: number } };
      };
      responses: { 201: { content: { 'application/json': { data: { readonly id: string } } } } };
    };
    get?: never;
  };
  '/collections/{id}': {
    get: {
      parameters: { path: { readonly id: string } };
      responses: {
        200: { content: { 'application/json': { data: { readonly state: string } } } };
        404: { content: { 'application/json': { message: string } } };
      };
    };
    post?: never;
  };
}
declare const schema: Schema<{ readonly id: number }>;
const keys = { baseUrl: 'https://service.example', publicKey: 'pk' };
const plain = createClient(keys);
const secret = createClient({ ...keys, secretKey: 'sk' });
const typed = createClient<Paths>({ ...keys, secretKey: 'sk' });
const body = { reference: 'ORD-1', amount: 500 };

test('without a contract, data is unknown until a schema says what it is', () => {
  expectTypeOf(plain.request({ method: 'GET', path: '/x' })).resolves.toEqualTypeOf<RequestResult>();
  expectTypeOf(plain.request({ method: 'POST', path: '/x', body, schema })).resolves.toEqualTypeOf<
    RequestResult<{ readonly id: number }>
  >();
  void secret.request({ method: 'POST', path: '/x', secretKey: true, repeat: 'safe' });
});

test('what is no call does not compile', () => {
  // @ts-expect-error: no path
  void plain.request({ method: 'GET' });
  // @ts-expect-error: no method of HTTP
  void plain.request({ method: 'SEND', path: '/x' });
  // @ts-expect-error: a body is an object or a list
  void plain.request({ method: 'POST', path: '/x', body: 'text' });
  // @ts-expect-error: only the word 'safe' allows repetitions
  void plain.request({ method: 'POST', path: '/x', repeat: true });
  // @ts-expect-error: a client without a secret key cannot send it
  void plain.request({ method: 'POST', path: '/x', secretKey: true });
});

test('with a contract, parameters, body and data have its types', () => {
  expectTypeOf(typed.request({ method: 'POST', path: '/collections', body })).resolves.toEqualTypeOf<
    RequestResult<{ readonly id: string }>
  >();
  expectTypeOf(
    typed.request({ method: 'GET', path: '/collections/{id}', params: { id: 'a' } }),
  ).resolves.toEqualTypeOf<RequestResult<{ readonly state: string }>>();
});

test('what the contract does not have does not compile', () => {
  // @ts-expect-error: no such path
  void typed.request({ method: 'GET', path: '/collection' });
  // @ts-expect-error: this path has no GET
  void typed.request({ method: 'GET', path: '/collections' });
  // @ts-expect-error: the parameter is missing
  void typed.request({ method: 'GET', path: '/collections/{id}' });
  // @ts-expect-error: the body is missing
  void typed.request({ method: 'POST', path: '/collections' });
  // @ts-expect-error: an amount as text
  void typed.request({ method: 'POST', path: '/collections', body: { ...body, amount: '500' } });
  // @ts-expect-error: an unknown filter
  void typed.request({ method: 'POST', path: '/collections', body, query: { wet: true } });
});
