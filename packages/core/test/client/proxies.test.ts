import { expect, test } from 'vitest';
import { ConnectionError } from '../../src/errors.ts';
import { clientAt, failureOf } from './local-service.ts';

test('a dispatcher of another version of undici is named, and not baseUrl', async () => {
  // What fetch of one major version throws with the dispatcher of another.
  const mismatch = Object.assign(new Error('invalid onRequestStart method'), { code: 'UND_ERR_INVALID_ARG' });
  const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: mismatch }));
  const error = await failureOf(
    clientAt('https://service.example', { fetch, maxAttempts: 1 }).client.listPaymentProviders(),
  );
  expect(error).toBeInstanceOf(ConnectionError);
  // No request was made, so nothing tells that no other transport has sent it before.
  expect(error).toMatchObject({ sent: 'unknown' });
  expect(String(error)).toMatch(
    /failed \(invalid onRequestStart method\)\. The dispatcher and fetch are probably from different undici versions/,
  );
});
