import { sampleCallback } from '@payment-service/core/testing';
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
import { ACCEPTED, ANSWERS, type AnswerRecord, accepted, closing, refused } from '../outcome.ts';
import type { CallbackScenarios } from '../scenario.ts';

const genuine = signature();
const put = callbackRequest({ method: 'PUT' });
const withColon = payload({ merchant_reference: 'ORD-1001:x' });
const methods = { options: { methods: ['PUT', 'PATCH'] } } as const;
const keys = [
  { id: 'new', key: OTHER_KEY },
  { id: 'old', key: SIGNING_KEY },
];
const typed = (type: string | readonly string[] | undefined): Buffer => headed({ 'content-type': type });
const signed = (value: string | readonly string[] | undefined): Buffer => headed({ 'hmac-signature': value });

const notAllowed = (answer: AnswerRecord) => refused('method_not_allowed', answer);

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
export const headers: CallbackScenarios = {
  'PUT is refused, and the answer names POST': [put, notAllowed(ANSWERS.methodNotAllowed)],
  'a PUT with a chunked body is refused, and the connection is closed': [
    chunkedCallbackRequest(['{}'], { method: 'PUT' }),
    notAllowed(closing(ANSWERS.methodNotAllowed)),
  ],
  'HEAD is refused without a body': [
    callbackRequest({ method: 'HEAD', body: '', headers: { 'content-length': undefined } }),
    notAllowed({ status: 405, body: '', allow: 'POST' }),
  ],
  'decision D48: PUT is accepted where the option methods names it': [put, ACCEPTED, methods],
  'decision D48: POST is refused where the option methods does not name it': [
    callbackRequest(),
    notAllowed({ ...ANSWERS.methodNotAllowed, allow: 'PUT, PATCH' }),
    methods,
  ],
  'a callback without a content type verifies': [typed(undefined), ACCEPTED],
  'a callback with a repeated content-type header verifies': [
    typed(['application/json', 'application/json']),
    ACCEPTED,
  ],
  ...Object.fromEntries(
    TYPES.map((type) => [`a callback with the content type ${type} verifies`, [typed(type), ACCEPTED]]),
  ),
  'a missing header is refused': [signed(undefined), refused('signature_missing')],
  'threat A12: a repeated header is refused': [signed([genuine, genuine]), refused('signature_malformed')],
  'a callback signed with another key is refused': [
    signed(signature(sampleCallback(), OTHER_KEY)),
    refused('mismatch'),
  ],
  'threat A20: one of several keys matches, and its id is reported': [
    callbackRequest(),
    accepted('old'),
    { options: { signingKey: keys }, record: ({ keyId }) => keyId },
  ],
  'threat A24: a timestamp outside the tolerance is refused': [
    callbackRequest(),
    refused('timestamp_out_of_tolerance'),
    { options: { toleranceSeconds: 30, now: () => (SIGNED_AT + 31) * 1000 } },
  ],
  "threat A3: the option colonIn allows ':' in the field that it names": [
    callbackRequest({ data: withColon }),
    accepted('ORD-1001:x'),
    { options: { colonIn: 'merchant_reference' } },
  ],
};
