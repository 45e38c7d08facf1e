import { sampleCallback } from '@payment-service/core/testing';
import { accepted, refused } from '../expectations.ts';
import { callbackRequest, hash, OTHER_KEY, SIGNED_AT, SIGNING_KEY, signature } from '../http-request.ts';
import type { CallbackScenario } from '../scenario.ts';

const genuine = signature();
const body = JSON.stringify(sampleCallback());

function signed(value: string | readonly string[] | undefined): Buffer {
  return callbackRequest({ headers: { 'hmac-signature': value } });
}

const MALFORMED: Readonly<Record<string, string | readonly string[]>> = {
  'threat A12: a repeated header': [genuine, genuine],
  'threat A12: a repeated header whose first value is genuine': [genuine, `t=1,s=${'0'.repeat(64)}`],
  'threat A12: a repeated header whose second value is genuine': [`t=1,s=${'0'.repeat(64)}`, genuine],
  'threat A12: a header that a proxy has joined': `${genuine}, ${genuine}`,
  'threat A11: a header with two values joined without a space': `${genuine},${genuine}`,
  'threat A11: a header with a second s': `${genuine},s=${'0'.repeat(64)}`,
  'threat A11: a header with a second t': `${genuine},t=1`,
  'threat A11: a header without t': `s=${hash()}`,
  'threat A11: a header without s': `t=${SIGNED_AT}`,
  'threat A11: a header with white space inside': genuine.replace(',', ', '),
  'threat A11: a header of more than 256 characters': `${genuine},v=${'1'.repeat(200)}`,
  'threat A13: an upper-case hash': `t=${SIGNED_AT},s=${hash().toUpperCase()}`,
  'threat A13: a hash with an extra digit': `${genuine}0`,
  'threat A13: a truncated hash': genuine.slice(0, -1),
};

export const signatures: readonly CallbackScenario[] = [
  {
    name: 'a missing header is refused',
    play: signed(undefined),
    expect: refused('signature_missing'),
  },
  {
    name: 'an empty header is refused',
    play: signed(''),
    expect: refused('signature_missing'),
  },
  ...Object.entries(MALFORMED).map(([name, value]) => ({
    name: `${name} is refused`,
    play: signed(value),
    expect: refused('signature_malformed'),
  })),
  {
    name: 'threat A12: a repeated header in two spellings is refused',
    play: callbackRequest({ headers: { 'HMAC-Signature': genuine } }),
    expect: refused('signature_malformed'),
  },
  {
    name: 'the name of the header may be in upper case',
    play: callbackRequest({ headers: { 'hmac-signature': undefined, 'HMAC-SIGNATURE': genuine } }),
    expect: accepted(),
  },
  {
    name: 'white space around the value is ignored',
    play: signed(`  ${genuine}  `),
    expect: accepted(),
  },
  {
    name: 'a part with another name is ignored',
    play: signed(`${genuine},v=1`),
    expect: accepted(),
  },
  {
    name: 'a callback signed with another key is refused',
    play: callbackRequest({ body, headers: { 'hmac-signature': signature(sampleCallback(), OTHER_KEY) } }),
    expect: refused('mismatch'),
  },
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
