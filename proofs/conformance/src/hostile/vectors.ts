import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { callbackMessage, redirectMessage, VECTOR_KEY } from '../http-request.ts';
import { ACCEPTED, REDIRECTED, REFUSED, type Sent, type Verdict } from './hostile-request.ts';

/** A vector of the contract: what is sent, and whether it is accepted. */
interface Vector {
  readonly name: string;
  readonly rule: string;
  readonly channel: 'callback' | 'redirect';
  readonly options: { readonly now_ms: number; readonly signing_key?: string };
  readonly signature?: unknown;
  readonly body_text?: string;
  readonly body_hex?: string;
  readonly query?: string;
  readonly expect: { readonly ok: boolean };
}

const require = createRequire(import.meta.url);
const path = require.resolve('@payment-service/openapi/signature-vectors.json');
const all: { readonly vectors: readonly Vector[] } = JSON.parse(readFileSync(path, 'utf8'));

/**
 * The grammar of signatures, and the form of a body (decisions D6 and D10). The contents of its fields are left to core's own
 * tests.
 */
const FORM = ['D6', 'D10'];
/** What a header or a query can be over HTTP: other characters, and surrounding white space, do not arrive. */
const SENDABLE = /^(?:[!-~](?:[ -~]{0,8000}[!-~])?)?$/;
const IN_A_TARGET = /^(?!\/|https?:)[!-~]*$/i;

/** The vectors that HTTP can carry and that need no option except their key. */
export const vectors: readonly (readonly [name: string, verdict: Verdict, sent: Sent])[] =
  all.vectors.flatMap(
    ({ name: own, rule, channel, options, signature, body_text, body_hex, query = '', expect: { ok } }) => {
      const { signing_key, now_ms: _, ...others } = options;
      const name = `a vector: ${own}`;
      if (signing_key !== VECTOR_KEY || Object.keys(others).length > 0) return [];
      if (channel === 'redirect') {
        const target = redirectMessage(query.replace(/^(?=[^?])/, '?'));
        return IN_A_TARGET.test(query) ? [[name, ok ? REDIRECTED : REFUSED, target]] : [];
      }
      const body = body_hex === undefined ? body_text : Buffer.from(body_hex, 'hex');
      const isSent = signature === undefined || (typeof signature === 'string' && SENDABLE.test(signature));
      if (!FORM.includes(rule) || !isSent || body === undefined) return [];
      return [
        [name, ok ? ACCEPTED : REFUSED, callbackMessage({ headers: { 'hmac-signature': signature }, body })],
      ];
    },
  );
