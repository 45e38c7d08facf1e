import { sampleCallback } from '@payment-service/core/testing';
import { redirected, turnedAway } from '../expectations.ts';
import {
  hash,
  OTHER_KEY,
  payload,
  redirectQuery,
  redirectRequest,
  SIGNED_AT,
  signature,
} from '../http-request.ts';
import { expecting, type RedirectScenario } from '../scenario.ts';

const flat = redirectQuery();
const PARAMETERS = flat.split('&').length;
const mr = 'merchant_reference=ORD-1001';
const signed = encodeURIComponent(signature());
const replaced = (from: string, to: string): Buffer => redirectRequest(flat.replace(from, to));
/** In place of the genuine signature. */
const resigned = (by: string): Buffer => replaced(signed, encodeURIComponent(by));
const added = (query: string): Buffer => redirectRequest(flat + query);
/** The signed fields and the signature, with other names for the fields of the payload. */
const nested = (open: string, close: string): string => {
  const { merchant_reference, internal_reference, transaction_type, transaction_status } =
    sampleCallback().payload;
  const fields = { merchant_reference, internal_reference, transaction_type, transaction_status };
  const named = Object.entries(fields).map(([name, value]) => `payload${open}${name}${close}=${value}`);
  return `?event=transaction.completed&${named.join('&')}&hmac_signature=${signed}`;
};

export const queries: readonly RedirectScenario[] = [
  ...expecting(redirected(), {
    'a redirect with flat names verifies': redirectRequest(flat),
    'a redirect with names in payload[…] verifies': redirectRequest(nested('[', ']')),
    'percent-encoded names in payload[…] verify': redirectRequest(nested('%5B', '%5D')),
    'a query of 128 parameters verifies': added('&a=1'.repeat(128 - PARAMETERS)),
    'a fragment is not part of the query': added(`#${mr}`),
  }),
  ...expecting(redirected('ORD Zoë 1'), {
    'a plus sign is a space, and escapes are UTF-8': redirectRequest(
      redirectQuery(payload({ merchant_reference: 'ORD Zoë 1' })).replace('ORD%20', 'ORD+'),
    ),
  }),
  {
    name: "the merchant's own parameter ?id=7 does not spoil a redirect, and raw has both values",
    play: replaced('?', '?id=7&'),
    record: ({ raw }) => raw['id'],
    expect: redirected(['7', '1001']),
  },
  {
    name: 'threat A14: a repeated unsigned name is not among the unsigned fields, and raw has both values',
    play: added('&provider_code=other'),
    record: ({ unsigned, raw }) => [Object.hasOwn(unsigned, 'provider_code'), raw['provider_code']],
    expect: redirected([false, ['example_mobile_money', 'other']]),
  },
  {
    name: 'brackets after an unsigned name are ignored',
    play: added('&id[]=7&provider_code[0]=other'),
    record: ({ unsigned }) => unsigned.provider_code,
    expect: redirected('example_mobile_money'),
  },
  {
    name: 'unknown names are kept, and may repeat',
    play: added('&utm=a&utm=b'),
    record: ({ raw }) => raw['utm'],
    expect: redirected(['a', 'b']),
  },
  {
    name: 'threat A4: an amount in a redirect is unsigned',
    play: redirectRequest(`${flat.replace('status_message=', 'x=')}&status_message=Paid+5000000`),
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
  ...expecting(turnedAway('query_malformed'), {
    'threat A14: a repeated signed name is refused': added(`&${mr}`),
    'threat A14: a repeated signed name whose second value differs is refused':
      added('&merchant_reference=ORD-9'),
    'threat A14: a repeated signed name whose first value differs is refused': replaced(
      '?',
      '?merchant_reference=ORD-9&',
    ),
    'threat A14: a repeated signed name in two encodings is refused': added('&merchant%5Freference=ORD-9'),
    'threat A14: a signed name that is both flat and in the payload is refused': added(
      '&payload[merchant_reference]=ORD-9',
    ),
    'threat A14: a repeated signature is refused': added(`&hmac_signature=${signed}`),
    'threat A14: a signed name with list brackets is refused': added('&merchant_reference[]=ORD-9'),
    'threat A14: a signed name with an index is refused': added('&merchant_reference[0]=ORD-9'),
    'threat A14: a signed name in the payload with an index is refused': redirectRequest(
      `${nested('[', ']')}&payload[merchant_reference][0]=ORD-9`,
    ),
    'threat A15: a percent escape that is not UTF-8 is refused': replaced('ORD-1001', 'ORD%FF'),
    'threat A15: a percent escape of a lone surrogate is refused': replaced('ORD-1001', 'ORD%ED%A0%80'),
    'threat A15: a truncated percent escape is refused': replaced('ORD-1001', 'ORD%4'),
    'threat A15: a percent sign without an escape is refused': added('&note=100%'),
    'threat A29: a query of more than 8192 characters is refused': added(`&filler=${'x'.repeat(8200)}`),
    'threat A29: a query of 129 parameters is refused': added('&a=1'.repeat(129 - PARAMETERS)),
    'threat A29: a query of 4,050 empty parameters is refused': redirectRequest(`?${'a&'.repeat(4050)}`),
    'threat A29: a genuine query before 4,000 empty parameters is refused': added(`&${'a&'.repeat(3700)}`),
    'threat A29: a signed name with 7,000 brackets is refused': redirectRequest(`?event${'['.repeat(7000)}`),
  }),
  ...expecting(turnedAway('signature_missing'), {
    'a redirect without a query is refused': redirectRequest(''),
    'a redirect without a signature is refused': replaced('hmac_signature', 'other'),
    'a signature in the header does not sign a redirect': redirectRequest(
      flat.replace('hmac_signature', 'other'),
      'GET',
      { 'hmac-signature': signature() },
    ),
  }),
  ...expecting(turnedAway('mismatch'), {
    'a redirect signed with another key is refused': resigned(signature(sampleCallback(), OTHER_KEY)),
    'a changed signed field is refused': replaced('COMPLETED', 'FAILED'),
  }),
  ...expecting(turnedAway('signature_malformed'), {
    'threat A13: digits from other Unicode blocks are refused': resigned(
      `t=${SIGNED_AT},s=${[...hash()].map((digit) => String.fromCodePoint(0x100 + digit.charCodeAt(0))).join('')}`,
    ),
  }),
];
