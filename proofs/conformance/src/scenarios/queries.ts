import { sampleCallback } from '@payment-service/core/testing';
import { OTHER_KEY, redirectQuery, redirectRequest, signature } from '../http-request.ts';
import { redirected, turnedAway } from '../outcome.ts';
import type { RedirectScenarios } from '../scenario.ts';

const flat = redirectQuery();
const replaced = (from: string, to: string): Buffer => redirectRequest(flat.replace(from, to));
const signedInHeader = redirectRequest(flat.replace('hmac_signature', 'other'), 'GET', {
  'hmac-signature': signature(),
});
const renamed = flat.replace('hmac_signature', 'sig').replace('merchant_reference', 'order');
const shortened = flat
  .replace('event=transaction.completed&', '')
  .replace('&transaction_type=COLLECTION', '');

export const queries: RedirectScenarios = {
  'a redirect with flat names verifies': [redirectRequest(flat), redirected()],
  "the merchant's own parameter ?id=7 does not spoil a redirect, and raw has both values": [
    replaced('?', '?id=7&'),
    redirected(['7', '1001']),
    { record: ({ raw }) => raw['id'] },
  ],
  'the option redirectFields renames parameters': [
    redirectRequest(renamed),
    redirected(),
    { options: { redirectFields: { hmac_signature: 'sig', merchant_reference: 'order' } } },
  ],
  'the option redirectDefaults fills in names that the query lacks': [
    redirectRequest(shortened),
    redirected(),
    { options: { redirectDefaults: { event: 'transaction.completed', transaction_type: 'COLLECTION' } } },
  ],
  'threat A14: a repeated signed name whose first value differs is refused': [
    replaced('?', '?merchant_reference=ORD-9&'),
    turnedAway('query_malformed'),
  ],
  'threat A15: a percent escape that is not UTF-8 is refused': [
    replaced('ORD-1001', 'ORD%FF'),
    turnedAway('query_malformed'),
  ],
  'threat A29: a query of 4,050 empty parameters is refused': [
    redirectRequest(`?${'a&'.repeat(4050)}`),
    turnedAway('query_malformed'),
  ],
  'a signature in the header does not sign a redirect': [signedInHeader, turnedAway('signature_missing')],
  'a redirect signed with another key is refused': [
    redirectRequest(redirectQuery(sampleCallback(), OTHER_KEY)),
    turnedAway('mismatch'),
  ],
};
