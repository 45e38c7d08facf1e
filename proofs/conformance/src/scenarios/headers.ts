import { sampleCallback } from '@payment-service/core/testing';
import { accepted, refused } from '../expectations.ts';
import {
  callbackRequest,
  chunkedCallbackRequest,
  headed,
  OTHER_KEY,
  payload,
  SIGNED_AT,
  SIGNING_KEY,
  signature,
} from '../http-request.ts';
import { ANSWERS, closing } from '../outcome.ts';
import { type CallbackScenario, expecting } from '../scenario.ts';

const genuine = signature();
const put = callbackRequest({ method: 'PUT' });
const methods = { options: { methods: ['PUT', 'PATCH'] } } as const;
const typed = (type: string | readonly string[] | undefined): Buffer => headed({ 'content-type': type });
const signed = (value: string | readonly string[] | undefined): Buffer => headed({ 'hmac-signature': value });
const keys = [
  { id: 'new', key: OTHER_KEY },
  { id: 'old', key: SIGNING_KEY },
];

// The protocol does not specify the content type of a callback (protocol §5.2): none is refused, and only the JSON decides.
const TYPES = [
  'application/json; charset=iso-8859-1',
  'Application/JSON',
  'application/vnd.payment+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
];

/** The method, the content type and the signature. */
export const headers: readonly CallbackScenario[] = [
  ...expecting(refused('method_not_allowed', ANSWERS.methodNotAllowed), {
    'PUT is refused, and the answer names POST': put,
  }),
  ...expecting(refused('method_not_allowed', closing(ANSWERS.methodNotAllowed)), {
    'a PUT with a chunked body is refused, and the connection is closed': chunkedCallbackRequest(['{}'], {
      method: 'PUT',
    }),
  }),
  ...expecting(refused('method_not_allowed', { status: 405, body: '', allow: 'POST' }), {
    'HEAD is refused without a body': callbackRequest({
      method: 'HEAD',
      body: '',
      headers: { 'content-length': undefined },
    }),
  }),
  ...expecting(
    accepted(),
    { 'decision D48: PUT is accepted where the option methods names it': put },
    methods,
  ),
  ...expecting(
    refused('method_not_allowed', { ...ANSWERS.methodNotAllowed, allow: 'PUT, PATCH' }),
    { 'decision D48: POST is refused where the option methods does not name it': callbackRequest() },
    methods,
  ),
  ...expecting(accepted(), {
    'a callback without a content type verifies': typed(undefined),
    'a callback with a repeated content-type header verifies': typed([
      'application/json',
      'application/json',
    ]),
    ...Object.fromEntries(
      TYPES.map((type) => [`a callback with the content type ${type} verifies`, typed(type)]),
    ),
  }),
  ...expecting(refused('signature_missing'), { 'a missing header is refused': signed(undefined) }),
  ...expecting(refused('signature_malformed'), {
    'threat A12: a repeated header is refused': signed([genuine, genuine]),
  }),
  ...expecting(refused('mismatch'), {
    'a callback signed with another key is refused': signed(signature(sampleCallback(), OTHER_KEY)),
  }),
  ...expecting(
    accepted('old'),
    { 'threat A20: one of several keys matches, and its id is reported': callbackRequest() },
    { options: { signingKey: keys }, record: ({ keyId }: { readonly keyId: string }) => keyId },
  ),
  ...expecting(
    refused('timestamp_out_of_tolerance'),
    { 'threat A24: a timestamp outside the tolerance is refused': callbackRequest() },
    { options: { toleranceSeconds: 30, now: () => (SIGNED_AT + 31) * 1000 } },
  ),
  ...expecting(
    accepted('ORD-1001:x'),
    {
      "threat A3: the option colonIn allows ':' in the field that it names": callbackRequest({
        data: payload({ merchant_reference: 'ORD-1001:x' }),
      }),
    },
    { options: { colonIn: 'merchant_reference' } as const },
  ),
];
