import { type ForgedRefusal, type RefusalCode, type RequestCode, refuse } from '../verify/refusal.ts';

/** Not beside the hints of the verifier: a program that verifies without a receiver does not load these. */
const HINTS: { readonly [Code in RequestCode]: string } = {
  method_not_allowed: 'A callback is a POST, or as the option methods says; a redirect is a GET.',
  encoding_unsupported: 'The body has a Content-Encoding other than gzip and deflate.',
  body_too_large: 'The body has more than 64 KiB, before or after decompression.',
  body_timeout: 'The sender took longer than bodyTimeoutMs to send the body.',
  body_aborted: 'The sender closed the connection before the body was complete.',
};

export function refuseRequest(code: RefusalCode): ForgedRefusal {
  return isRequestCode(code) ? refuse(code, HINTS[code]) : refuse(code);
}

export function isRequestCode(code: RefusalCode): code is RequestCode {
  return Object.hasOwn(HINTS, code);
}
