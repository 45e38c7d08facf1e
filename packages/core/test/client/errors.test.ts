import { expect, test } from 'vitest';
import {
  ApiError,
  ConfigurationError,
  ConnectionError,
  InvalidResponseError,
  InvalidStateError,
  TimeoutError,
  UnavailableError,
} from '../../src/errors.ts';

// Minifiers rename classes, as these subclasses simulate.
test.each([
  ['ApiError', 'api_error', new (class A extends ApiError {})('x', { status: 400 })],
  ['ConnectionError', 'connection_failed', new (class A extends ConnectionError {})('x')],
  ['TimeoutError', 'timeout', new (class A extends TimeoutError {})('x')],
  ['InvalidResponseError', 'invalid_response', new (class A extends InvalidResponseError {})('x')],
  ['ConfigurationError', 'invalid_configuration', new (class A extends ConfigurationError {})('o', 'x')],
  ['InvalidStateError', 'invalid_state', new (class A extends InvalidStateError {})('x')],
  ['UnavailableError', 'unavailable', new (class A extends UnavailableError {})('x')],
])('%s has its name and the code %s when its class is renamed', (name, code, error) => {
  expect(error).toMatchObject({ name, code });
  expect(String(error)).toBe(`${name}: x`);
});
