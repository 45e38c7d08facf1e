import { expect, it } from 'vitest';
import * as client from '../src/client/index.ts';
import * as core from '../src/index.ts';
import * as receive from '../src/receive/index.ts';
import * as testing from '../src/testing.ts';

// A new export is a reviewed line: it must be kept for years.
it('exports these names and no others', () => {
  expect(Object.keys(core).sort()).toEqual([
    'ConfigurationError',
    'InvalidStateError',
    'PaymentServiceError',
    'UnavailableError',
    'assertMerchantReference',
    'bodyText',
    'canonicalAmount',
    'claimedAmounts',
    'confirmAmount',
    'createVerifier',
    'isTransactionCompleted',
    'transitionId',
  ]);
  expect(Object.keys(receive).sort()).toEqual([
    'createCallbackReceiver',
    'createRedirectReceiver',
    'incomingCallback',
    'receiveCallback',
    'receiveRedirect',
  ]);
  expect(Object.keys(client).sort()).toEqual([
    'ApiError',
    'ConfigurationError',
    'ConnectionError',
    'InvalidResponseError',
    'PaymentServiceError',
    'TimeoutError',
    'createClient',
    'eligibleProviders',
  ]);
  expect(Object.keys(testing).sort()).toEqual(['sampleCallback', 'signCallback']);
});
