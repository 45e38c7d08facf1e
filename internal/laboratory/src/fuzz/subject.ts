import { Buffer } from 'node:buffer';
import {
  createVerifier,
  type Refusal,
  type VerifiedCallback,
  type VerifiedRedirect,
} from '@payment-service/core';
import { NAMES, SecondVerifier, type Settings, type Verdict } from './second-verifier.ts';

/** The options of a vector in openapi/signature-vectors.json. */
export interface VectorOptions {
  readonly signing_key?: string;
  readonly signing_keys?: readonly {
    readonly id: string;
    readonly key: string;
    readonly not_after?: string;
  }[];
  readonly tolerance_seconds?: number;
  readonly colon_in?: 'merchant_reference' | 'internal_reference';
  readonly merchant_reference_pattern?: string;
  readonly redirect_defaults?: { readonly event?: string; readonly transaction_type?: string };
  readonly now_ms: number;
}

export type Input =
  | { readonly channel: 'callback'; readonly signature: unknown; readonly body: unknown }
  | { readonly channel: 'redirect'; readonly query: string; readonly expected: string | undefined };

export type CoreVerdict = VerifiedCallback | VerifiedRedirect | Refusal;
/** A verifier under test: core, or a control that must be caught. */
export type Judge = (input: Input) => CoreVerdict;

/** One set of options, with core and the second verifier under it. */
export interface Subject {
  readonly options: VectorOptions;
  readonly settings: Settings;
  readonly second: SecondVerifier;
  readonly core: Judge;
}

export function subject(options: VectorOptions): Subject {
  const { signing_key = '', signing_keys, tolerance_seconds, colon_in, redirect_defaults, now_ms } = options;
  const pattern =
    options.merchant_reference_pattern === undefined
      ? undefined
      : new RegExp(options.merchant_reference_pattern, 'u');
  const isReference = pattern && ((reference: string): boolean => pattern.test(reference));
  const verifier = createVerifier({
    signingKey:
      signing_keys?.map(({ id, key, not_after }) => ({
        id,
        key,
        notAfter: not_after === undefined ? undefined : new Date(not_after),
      })) ?? signing_key,
    toleranceSeconds: tolerance_seconds,
    colonIn: colon_in,
    isMerchantReference: isReference,
    redirectDefaults: redirect_defaults,
    now: () => now_ms,
  });
  const settings = settingsOf(options, isReference);
  return {
    options,
    settings,
    second: new SecondVerifier(settings),
    core: (input) => {
      if (input.channel === 'redirect') {
        const { query, expected } = input;
        return verifier.verifyRedirect(query, expected === undefined ? {} : { expectReference: expected });
      }
      // Some inputs have signatures and bodies of wrong types on purpose, which the types rule out.
      return verifier.verifyCallback({ signature: input.signature, body: input.body } as CallbackInput);
    },
  };
}
type CallbackInput = Parameters<ReturnType<typeof createVerifier>['verifyCallback']>[0];

function settingsOf(options: VectorOptions, isReference: Settings['isReference']): Settings {
  const { signing_key = '', signing_keys, tolerance_seconds, colon_in, redirect_defaults, now_ms } = options;
  const keys = signing_keys?.map(({ not_after, ...key }) =>
    not_after === undefined ? key : { ...key, notAfterMs: Date.parse(not_after) },
  );
  return {
    keys: keys ?? [{ id: '', key: signing_key }],
    nowMs: now_ms,
    ...(tolerance_seconds === undefined ? {} : { toleranceMs: Math.round(tolerance_seconds * 1000) }),
    ...(colon_in === undefined ? {} : { colonIn: colon_in }),
    ...(isReference === undefined ? {} : { isReference }),
    ...(redirect_defaults === undefined ? {} : { defaults: redirect_defaults }),
  };
}

export function secondVerdict({ second }: Pick<Subject, 'second'>, input: Input): Verdict {
  return input.channel === 'redirect'
    ? second.redirect(input.query, input.expected)
    : second.callback(input.signature, input.body);
}

export type Fault = 'false accept' | 'false refusal' | 'another reading' | 'another reason' | 'exception';

/** What is wrong with a verdict, by the second one. */
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

/** The input as a vector, which the Python verifier reads and a person can add to the file. */
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

/** The reverse: a vector of the file, or one that a run has printed. */
export function fromVector(vector: Readonly<Record<string, unknown>>): {
  options: VectorOptions;
  input: Input;
} {
  // The file is the repository's own, and its tests hold it to this shape.
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
