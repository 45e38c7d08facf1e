import { sampleCallback } from '@payment-service/core/testing';
import { redirected, turnedAway } from '../expectations.ts';
import { hash, OTHER_KEY, redirectQuery, redirectRequest, SIGNED_AT, signature } from '../http-request.ts';
import type { RedirectScenario } from '../scenario.ts';

const flat = redirectQuery();
const mr = 'merchant_reference=ORD-1001';
/** The signed fields and the signature, with other names for what stands in the payload. */
const nested = (open: string, close: string) =>
  `?event=transaction.completed&${[
    ['merchant_reference', 'ORD-1001'],
    ['internal_reference', 'INT-77'],
    ['transaction_type', 'COLLECTION'],
    ['transaction_status', 'COMPLETED'],
  ]
    .map(([name, value]) => `payload${open}${name}${close}=${value}`)
    .join('&')}&hmac_signature=${encodeURIComponent(signature())}`;

const MALFORMED: Readonly<Record<string, string>> = {
  'threat A14: a signed name that stands twice': `${flat}&${mr}`,
  'threat A14: a signed name that stands twice, the second time with another value': `${flat}&merchant_reference=ORD-9`,
  'threat A14: a signed name that stands twice, the first time with another value': flat.replace(
    '?',
    '?merchant_reference=ORD-9&',
  ),
  'threat A14: a signed name that stands twice, once encoded': `${flat}&merchant%5Freference=ORD-9`,
  'threat A14: a signed name, flat and in the payload': `${flat}&payload[merchant_reference]=ORD-9`,
  'threat A14: a signature that stands twice': `${flat}&hmac_signature=${encodeURIComponent(signature())}`,
  'threat A14: an unsigned name of the contract that stands twice': `${flat}&transaction_amount=5000000`,
  'threat A14: a name in list brackets': `${flat}&merchant_reference[]=ORD-9`,
  'threat A14: a name with an index': `${flat}&merchant_reference[0]=ORD-9`,
  'threat A14: a name in the payload with an index': `${nested('[', ']')}&payload[merchant_reference][0]=ORD-9`,
  'threat A15: a percent escape that is not UTF-8': flat.replace('ORD-1001', 'ORD%FF'),
  'threat A15: a percent escape of a lone surrogate': flat.replace('ORD-1001', 'ORD%ED%A0%80'),
  'threat A15: a percent escape that breaks off': flat.replace('ORD-1001', 'ORD%4'),
  'threat A15: a percent sign alone': `${flat}&note=100%`,
  'more than 8192 characters': `${flat}&filler=${'x'.repeat(8200)}`,
};

export const queries: readonly RedirectScenario[] = [
  {
    name: 'flat names verify',
    play: redirectRequest(flat),
    expect: redirected(),
  },
  {
    name: 'names in payload[…] verify',
    play: redirectRequest(nested('[', ']')),
    expect: redirected(),
  },
  {
    name: 'names in payload[…], encoded, verify',
    play: redirectRequest(nested('%5B', '%5D')),
    expect: redirected(),
  },
  {
    name: 'a plus sign is a space, and escapes are UTF-8',
    play: redirectRequest(
      redirectQuery(sampleCallback({ payload: { merchant_reference: 'ORD Zoë 1' } })).replace(
        'ORD%20',
        'ORD+',
      ),
    ),
    expect: redirected('ORD Zoë 1'),
  },
  {
    name: 'names that nobody knows are kept, and may repeat',
    play: redirectRequest(`${flat}&utm=a&utm=b`),
    record: (redirect) => redirect.raw['utm'],
    expect: redirected(['a', 'b']),
  },
  {
    name: 'what looks like a fragment is not part of the query',
    play: redirectRequest(`${flat}#${mr}`),
    expect: redirected(),
  },
  {
    name: 'threat A4: an amount in a redirect is unsigned',
    play: redirectRequest(flat.replace('status_message=', 'x=').concat('&status_message=Paid+5000000')),
    record: ({ unsigned }) => unsigned.status_message,
    expect: redirected('Paid 5000000'),
  },
  {
    name: 'the option redirectFields renames',
    options: { redirectFields: { hmac_signature: 'sig', merchant_reference: 'order' } },
    play: redirectRequest(flat.replace('hmac_signature', 'sig').replace('merchant_reference', 'order')),
    expect: redirected(),
  },
  ...Object.entries(MALFORMED).map(([name, query]) => ({
    name: `${name} is refused`,
    play: redirectRequest(query),
    expect: turnedAway('query_malformed'),
  })),
  {
    name: 'no query is refused',
    play: redirectRequest(''),
    expect: turnedAway('signature_missing'),
  },
  {
    name: 'a missing signature is refused',
    play: redirectRequest(flat.replace('hmac_signature', 'other')),
    expect: turnedAway('signature_missing'),
  },
  {
    name: 'a signature in the header is no signature of a redirect',
    play: redirectRequest(flat.replace('hmac_signature', 'other'), 'GET', { 'hmac-signature': signature() }),
    expect: turnedAway('signature_missing'),
  },
  {
    name: 'another key is refused',
    play: redirectRequest(
      flat.replace(
        encodeURIComponent(signature()),
        encodeURIComponent(signature(sampleCallback(), OTHER_KEY)),
      ),
    ),
    expect: turnedAway('mismatch'),
  },
  {
    name: 'a changed signed field is refused',
    play: redirectRequest(flat.replace('COMPLETED', 'FAILED')),
    expect: turnedAway('mismatch'),
  },
  {
    name: 'threat A13: digits from elsewhere in Unicode are refused',
    play: redirectRequest(
      flat.replace(
        encodeURIComponent(signature()),
        encodeURIComponent(
          `t=${SIGNED_AT},s=${[...hash()].map((digit) => String.fromCodePoint(0x100 + digit.charCodeAt(0))).join('')}`,
        ),
      ),
    ),
    expect: turnedAway('signature_malformed'),
  },
];
