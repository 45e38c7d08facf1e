import { sampleCallback } from '@payment-service/core/testing';
import { accepted, refused } from '../expectations.ts';
import {
  callbackRequest,
  hash,
  headed,
  OTHER_KEY,
  SIGNED_AT,
  SIGNING_KEY,
  signature,
} from '../http-request.ts';
import { type CallbackScenario, expecting } from '../scenario.ts';

const genuine = signature();
const zeros = `t=1,s=${'0'.repeat(64)}`;
const signed = (value: string | readonly string[] | undefined): Buffer => headed({ 'hmac-signature': value });

export const signatures: readonly CallbackScenario[] = [
  ...expecting(refused('signature_missing'), {
    'a missing header is refused': signed(undefined),
    'an empty header is refused': signed(''),
  }),
  ...expecting(refused('signature_malformed'), {
    'threat A12: a repeated header is refused': signed([genuine, genuine]),
    'threat A12: a repeated header whose first value is genuine is refused': signed([genuine, zeros]),
    'threat A12: a repeated header whose second value is genuine is refused': signed([zeros, genuine]),
    'threat A12: a repeated header in two spellings is refused': headed({ 'HMAC-Signature': genuine }),
    'threat A12: a header that a proxy has joined is refused': signed(`${genuine}, ${genuine}`),
    'threat A11: a header with two values joined without a space is refused': signed(`${genuine},${genuine}`),
    'threat A11: a header with a second s is refused': signed(`${genuine},s=${'0'.repeat(64)}`),
    'threat A11: a header with a second t is refused': signed(`${genuine},t=1`),
    'threat A11: a header without t is refused': signed(`s=${hash()}`),
    'threat A11: a header without s is refused': signed(`t=${SIGNED_AT}`),
    'threat A11: a header with white space inside is refused': signed(genuine.replace(',', ', ')),
    'threat A11: a header of more than 256 characters is refused': signed(`${genuine},v=${'1'.repeat(200)}`),
    'threat A13: an upper-case hash is refused': signed(`t=${SIGNED_AT},s=${hash().toUpperCase()}`),
    'threat A13: a hash with an extra digit is refused': signed(`${genuine}0`),
    'threat A13: a truncated hash is refused': signed(genuine.slice(0, -1)),
  }),
  ...expecting(accepted(), {
    'the name of the header may be in upper case': headed({
      'hmac-signature': undefined,
      'HMAC-SIGNATURE': genuine,
    }),
    'white space around the value is ignored': signed(`  ${genuine}  `),
    'a part with another name is ignored': signed(`${genuine},v=1`),
  }),
  ...expecting(refused('mismatch'), {
    'a callback signed with another key is refused': signed(signature(sampleCallback(), OTHER_KEY)),
  }),
  {
    name: 'threat A20: one of several keys matches, and its id is reported',
    options: {
      signingKey: [
        { id: 'new', key: OTHER_KEY },
        { id: 'old', key: SIGNING_KEY },
      ],
    },
    play: callbackRequest(),
    record: (callback) => callback.keyId,
    expect: accepted('old'),
  },
  {
    name: 'threat A20: a key whose notAfter has passed is refused',
    options: { signingKey: [{ id: 'old', key: SIGNING_KEY, notAfter: new Date(SIGNED_AT * 1000) }] },
    play: callbackRequest(),
    expect: refused('key_expired'),
  },
  {
    name: 'threat A24: a timestamp outside the tolerance is refused',
    options: { toleranceSeconds: 30, now: () => (SIGNED_AT + 31) * 1000 },
    play: callbackRequest(),
    expect: refused('timestamp_out_of_tolerance'),
  },
  {
    name: 'threat A24: a timestamp inside the tolerance is accepted, and its age is reported',
    options: { toleranceSeconds: 30, now: () => (SIGNED_AT + 29) * 1000 },
    play: callbackRequest(),
    record: (callback) => callback.timestamp.ageSeconds,
    expect: accepted(29),
  },
];
