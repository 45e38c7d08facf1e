import { Buffer } from 'node:buffer';
import {
  createVerifier,
  type Refusal,
  type VerifiedCallback,
  type VerifiedRedirect,
} from '@payment-service/core';
import { NAMES, SecondVerifier, type VectorOptions, type Verdict } from './second-verifier.ts';

export type Input =
  | { readonly channel: 'callback'; readonly signature: unknown; readonly body: unknown }
  | { readonly channel: 'redirect'; readonly query: string; readonly expected: string | undefined };

export type CoreVerdict = VerifiedCallback | VerifiedRedirect | Refusal;
/** A verifier under test: core, or a control that must be caught. */
export type Judge = (input: Input) => CoreVerdict;

/** One set of options, with core and the second verifier configured by it. */
export interface Subject {
  readonly options: VectorOptions;
  readonly second: SecondVerifier;
  readonly core: Judge;
}

export function subject(options: VectorOptions): Subject {
  const { signing_key = '', signing_keys, tolerance_seconds, colon_in, redirect_defaults, now_ms } = options;
  const { merchant_reference_pattern: pattern } = options;
  const reference = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  const ring = signing_keys?.map(({ not_after, ...key }) => ({
    ...key,
    notAfter: not_after === undefined ? undefined : new Date(not_after),
  }));
  const verifier = createVerifier({
    signingKey: ring ?? signing_key,
    toleranceSeconds: tolerance_seconds,
    colonIn: colon_in,
    isMerchantReference: reference && ((given) => reference.test(given)),
    redirectDefaults: redirect_defaults,
    now: () => now_ms,
  });
  return {
    options,
    second: new SecondVerifier(options),
    core: (input) => {
      if (input.channel === 'redirect') {
        const { query, expected } = input;
        return verifier.verifyRedirect(query, expected === undefined ? {} : { expectReference: expected });
      }
      // Some inputs deliberately have signatures and bodies of wrong types, which the types rule out.
      return verifier.verifyCallback({ signature: input.signature, body: input.body } as CallbackInput);
    },
  };
}
type CallbackInput = Parameters<ReturnType<typeof createVerifier>['verifyCallback']>[0];

export function secondVerdict({ second }: Pick<Subject, 'second'>, input: Input): Verdict {
  return input.channel === 'redirect'
    ? second.redirect(input.query, input.expected)
    : second.callback(input.signature, input.body);
}

/** The faults of a verdict, and the names of their counts. */
export const FAULTS = {
  'false accept': 'false accepts',
  'false refusal': 'false refusals',
  exception: 'exceptions',
  'another reading': 'accepted with other fields, key or unit',
  'another reason': 'refused for another reason',
} as const;
export type Fault = keyof typeof FAULTS;

/** What is wrong with a verdict, according to the second one. */
export function faultOf(judge: Judge, input: Input, right: Verdict): Fault | undefined {
  let verdict: CoreVerdict;
  try {
    verdict = judge(input);
  } catch {
    return 'exception';
  }
  if (!('fields' in right)) {
    if (verdict.ok) return 'false accept';
    const isSame = verdict.code === right.code || verdict.code === right.or;
    return isSame && verdict.authentic === right.authentic ? undefined : 'another reason';
  }
  if (!verdict.ok) return 'false refusal';
  const { signed, keyId, timestamp } = verdict;
  for (let index = 0; index < NAMES.length; index++)
    if (signed[NAMES[index] ?? 'event'] !== right.fields[index]) return 'another reading';
  const isSameKey = right.keyId === '' || keyId === right.keyId;
  return isSameKey && timestamp.unit === right.unit ? undefined : 'another reading';
}

/** The input as a vector, which the Python verifier reads and a developer can add to the file. */
export function asVector(options: VectorOptions, input: Input): Readonly<Record<string, unknown>> {
  if (input.channel === 'redirect') {
    const { query, expected } = input;
    const more = expected === undefined ? {} : { expect_reference: expected };
    return { channel: 'redirect', options: { ...options, ...more }, query };
  }
  const { signature, body } = input;
  const carried =
    typeof body === 'string'
      ? { body_text: body }
      : body instanceof Uint8Array
        ? { body_hex: Buffer.from(body).toString('hex') }
        : { body_json: body };
  return { channel: 'callback', options, ...(signature === undefined ? {} : { signature }), ...carried };
}

/** The reverse, for a vector of the file or one printed by a run. */
export function fromVector(vector: Readonly<Record<string, unknown>>): {
  options: VectorOptions;
  input: Input;
} {
  // The file is the repository's own, and its tests ensure this shape.
  const { options, channel, signature, query, body_text, body_hex, body_json } = vector as {
    readonly options: VectorOptions & { readonly expect_reference?: string };
    readonly channel: 'callback' | 'redirect';
    readonly signature?: unknown;
    readonly query?: string;
    readonly body_text?: string;
    readonly body_hex?: string;
    readonly body_json?: unknown;
  };
  if (channel === 'redirect')
    return { options, input: { channel, query: query ?? '', expected: options.expect_reference } };
  const body =
    body_text ?? (body_hex === undefined ? body_json : new Uint8Array(Buffer.from(body_hex, 'hex')));
  return { options, input: { channel, signature, body } };
}
