import { sampleCallback } from '@payment-service/core/testing';
import { redirected, turnedAway } from '../expectations.ts';
import { hash, OTHER_KEY, redirectQuery, redirectRequest, SIGNED_AT, signature } from '../http-request.ts';
import type { RedirectScenario } from '../scenario.ts';

const flat = redirectQuery();
const PARAMETERS = flat.split('&').length;
const mr = 'merchant_reference=ORD-1001';
/** The signed fields and the signature, with other names for the fields of the payload. */
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
  'threat A14: a repeated signed name': `${flat}&${mr}`,
  'threat A14: a repeated signed name whose second value differs': `${flat}&merchant_reference=ORD-9`,
  'threat A14: a repeated signed name whose first value differs': flat.replace(
    '?',
    '?merchant_reference=ORD-9&',
  ),
  'threat A14: a repeated signed name in two encodings': `${flat}&merchant%5Freference=ORD-9`,
  'threat A14: a signed name that is both flat and in the payload': `${flat}&payload[merchant_reference]=ORD-9`,
  'threat A14: a repeated signature': `${flat}&hmac_signature=${encodeURIComponent(signature())}`,
  'threat A14: a signed name with list brackets': `${flat}&merchant_reference[]=ORD-9`,
  'threat A14: a signed name with an index': `${flat}&merchant_reference[0]=ORD-9`,
  'threat A14: a signed name in the payload with an index': `${nested('[', ']')}&payload[merchant_reference][0]=ORD-9`,
  'threat A15: a percent escape that is not UTF-8': flat.replace('ORD-1001', 'ORD%FF'),
  'threat A15: a percent escape of a lone surrogate': flat.replace('ORD-1001', 'ORD%ED%A0%80'),
  'threat A15: a truncated percent escape': flat.replace('ORD-1001', 'ORD%4'),
  'threat A15: a percent sign without an escape': `${flat}&note=100%`,
  'threat A29: a query of more than 8192 characters': `${flat}&filler=${'x'.repeat(8200)}`,
  'threat A29: a query of 129 parameters': `${flat}${'&a=1'.repeat(129 - PARAMETERS)}`,
  'threat A29: a query of 4,050 empty parameters': `?${'a&'.repeat(4050)}`,
  'threat A29: a genuine query before 4,000 empty parameters': `${flat}&${'a&'.repeat(3700)}`,
  'threat A29: a signed name with 7,000 brackets': `?event${'['.repeat(7000)}`,
};

export const queries: readonly RedirectScenario[] = [
  {
    name: 'a redirect with flat names verifies',
    play: redirectRequest(flat),
    expect: redirected(),
  },
  {
    name: 'a redirect with names in payload[…] verifies',
    play: redirectRequest(nested('[', ']')),
    expect: redirected(),
  },
  {
    name: 'percent-encoded names in payload[…] verify',
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
    name: 'a query of 128 parameters verifies',
    play: redirectRequest(`${flat}${'&a=1'.repeat(128 - PARAMETERS)}`),
    expect: redirected(),
  },
  {
    name: "the merchant's own parameter ?id=7 does not spoil a redirect, and raw has both values",
    play: redirectRequest(flat.replace('?', '?id=7&')),
    record: ({ raw }) => raw['id'],
    expect: redirected(['7', '1001']),
  },
  {
    name: 'threat A14: a repeated unsigned name is not among the unsigned fields, and raw has both values',
    play: redirectRequest(`${flat}&provider_code=other`),
    record: ({ unsigned, raw }) => [Object.hasOwn(unsigned, 'provider_code'), raw['provider_code']],
    expect: redirected([false, ['example_mobile_money', 'other']]),
  },
  {
    name: 'brackets after an unsigned name are ignored',
    play: redirectRequest(`${flat}&id[]=7&provider_code[0]=other`),
    record: ({ unsigned }) => unsigned.provider_code,
    expect: redirected('example_mobile_money'),
  },
  {
    name: 'unknown names are kept, and may repeat',
    play: redirectRequest(`${flat}&utm=a&utm=b`),
    record: (redirect) => redirect.raw['utm'],
    expect: redirected(['a', 'b']),
  },
  {
    name: 'a fragment is not part of the query',
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
  ...Object.entries(MALFORMED).map(([name, query]) => ({
    name: `${name} is refused`,
    play: redirectRequest(query),
    expect: turnedAway('query_malformed'),
  })),
  {
    name: 'a redirect without a query is refused',
    play: redirectRequest(''),
    expect: turnedAway('signature_missing'),
  },
  {
    name: 'a redirect without a signature is refused',
    play: redirectRequest(flat.replace('hmac_signature', 'other')),
    expect: turnedAway('signature_missing'),
  },
  {
    name: 'a signature in the header does not sign a redirect',
    play: redirectRequest(flat.replace('hmac_signature', 'other'), 'GET', { 'hmac-signature': signature() }),
    expect: turnedAway('signature_missing'),
  },
  {
    name: 'a redirect signed with another key is refused',
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
    name: 'threat A13: digits from other Unicode blocks are refused',
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
