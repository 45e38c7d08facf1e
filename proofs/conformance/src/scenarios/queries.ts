import { sampleCallback } from '@payment-service/core/testing';
import { OTHER_KEY, redirectQuery, redirectRequest } from '../http-request.ts';
import { redirected, turnedAway } from '../outcome.ts';
import type { RedirectScenarios } from '../scenario.ts';

const flat = redirectQuery();
const replaced = (from: string, to: string): Buffer => redirectRequest(flat.replace(from, to));

export const queries: RedirectScenarios = {
  'a redirect with flat names verifies': [redirectRequest(flat), redirected()],
  "the merchant's own parameter ?id=7 does not spoil a redirect, and raw has both values": [
    replaced('?', '?id=7&'),
    redirected(['7', '1001']),
    { record: ({ raw }) => raw['id'] },
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
  'a redirect signed with another key is refused': [
    redirectRequest(redirectQuery(sampleCallback(), OTHER_KEY)),
    turnedAway('mismatch'),
  ],
};
