import { expect, it } from 'vitest';
import * as core from '../src/index.ts';
import * as node from '../src/node.ts';
import * as testing from '../src/testing.ts';

// A new export is a reviewed line: it must be kept for years.
it('exports these names and no others', () => {
  expect(Object.keys(core).sort()).toEqual([
    'ApiError',
    'ConfigurationError',
    'ConnectionError',
    'InvalidResponseError',
    'InvalidStateError',
    'PaymentServiceError',
    'TimeoutError',
    'UnavailableError',
    'assertMerchantReference',
    'bodyText',
    'canonicalAmount',
    'claimedAmounts',
    'confirmAmount',
    'createCallbackReceiver',
    'createClient',
    'createRedirectReceiver',
    'createVerifier',
    'eligibleProviders',
    'isTransactionCompleted',
    'receiveCallback',
    'receiveRedirect',
    'transitionId',
  ]);
  expect(Object.keys(node)).toEqual(['incomingCallback']);
  expect(Object.keys(testing).sort()).toEqual(['sampleCallback', 'signCallback']);
});
