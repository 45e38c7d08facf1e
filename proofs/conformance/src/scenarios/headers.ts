import { sampleCallback } from '@payment-service/core/testing';
import {
  callbackRequest,
  headed,
  OTHER_KEY,
  payload,
  SIGNED_AT,
  SIGNING_KEY,
  signature,
} from '../http-request.ts';
import { ACCEPTED, ANSWERS, type AnswerRecord, accepted, refused } from '../outcome.ts';
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

/** The method, the content type and the signature. */
export const headers: CallbackScenarios = {
  'PUT is refused, and the answer names POST': [put, notAllowed(ANSWERS.methodNotAllowed)],
  'HEAD is refused without a body': [
    callbackRequest({ method: 'HEAD', body: '', headers: { 'content-length': undefined } }),
    notAllowed({ status: 405, body: '', allow: 'POST' }),
  ],
  'decision D48: PUT is accepted where the option methods names it': [put, ACCEPTED, methods],
  // The protocol does not specify it (protocol §5.2): none is refused, and only the JSON decides.
  'a callback without a content type verifies': [typed(undefined), ACCEPTED],
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
