import { sampleCallback } from '@payment-service/core/testing';
import { redirected, turnedAway } from '../expectations.ts';
import { OTHER_KEY, redirectQuery, redirectRequest, signature } from '../http-request.ts';
import { expecting, type RedirectScenario } from '../scenario.ts';

const flat = redirectQuery();
const signed = encodeURIComponent(signature());
const replaced = (from: string, to: string): Buffer => redirectRequest(flat.replace(from, to));

export const queries: readonly RedirectScenario[] = [
  ...expecting(redirected(), {
    'a redirect with flat names verifies': redirectRequest(flat),
  }),
  {
    name: "the merchant's own parameter ?id=7 does not spoil a redirect, and raw has both values",
    play: replaced('?', '?id=7&'),
    record: ({ raw }) => raw['id'],
    expect: redirected(['7', '1001']),
  },
  {
    name: 'the option redirectFields renames parameters',
    options: { redirectFields: { hmac_signature: 'sig', merchant_reference: 'order' } },
    play: redirectRequest(flat.replace('hmac_signature', 'sig').replace('merchant_reference', 'order')),
    expect: redirected(),
  },
  {
    name: 'the option redirectDefaults fills in names that the query lacks',
    options: { redirectDefaults: { event: 'transaction.completed', transaction_type: 'COLLECTION' } },
    play: redirectRequest(
      flat.replace('event=transaction.completed&', '').replace('&transaction_type=COLLECTION', ''),
    ),
    expect: redirected(),
  },
  ...expecting(turnedAway('query_malformed'), {
    'threat A14: a repeated signed name whose first value differs is refused': replaced(
      '?',
      '?merchant_reference=ORD-9&',
    ),
    'threat A15: a percent escape that is not UTF-8 is refused': replaced('ORD-1001', 'ORD%FF'),
    'threat A29: a query of 4,050 empty parameters is refused': redirectRequest(`?${'a&'.repeat(4050)}`),
  }),
  ...expecting(turnedAway('signature_missing'), {
    'a signature in the header does not sign a redirect': redirectRequest(
      flat.replace('hmac_signature', 'other'),
      'GET',
      { 'hmac-signature': signature() },
    ),
  }),
  ...expecting(turnedAway('mismatch'), {
    'a redirect signed with another key is refused': replaced(
      signed,
      encodeURIComponent(signature(sampleCallback(), OTHER_KEY)),
    ),
  }),
];
