import { Buffer } from 'node:buffer';
import {
  createVerifier,
  type Refusal,
  type VerifiedCallback,
  type VerifiedRedirect,
} from '@payment-service/core';
import { NAMES, SecondVerifier, type Unit, type VectorOptions, type Verdict } from './second-verifier.ts';

export type Input =
  | { readonly channel: 'callback'; readonly signature: unknown; readonly body: unknown }
  | { readonly channel: 'redirect'; readonly query: string; readonly expected: string | undefined };

type CoreVerdict = VerifiedCallback | VerifiedRedirect | Refusal;

/** One set of options, with core and the second verifier configured by it. */
export interface Subject {
  readonly options: VectorOptions;
  readonly second: SecondVerifier;
  /** Core, or a control that must be caught. */
  readonly core: (input: Input) => CoreVerdict;
}

export function subject(options: VectorOptions): Subject {
  const { signing_key = '', signing_keys, merchant_reference_pattern: pattern, now_ms } = options;
  const reference = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  const ring = signing_keys?.map(({ not_after, ...key }) => ({
    ...key,
    notAfter: not_after === undefined ? undefined : new Date(not_after),
  }));
  const verifier = createVerifier({
    signingKey: ring ?? signing_key,
    toleranceSeconds: options.tolerance_seconds,
    colonIn: options.colon_in,
    isMerchantReference: reference && ((given) => reference.test(given)),
    redirectDefaults: options.redirect_defaults,
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
      return verifier.verifyCallback(input as Parameters<typeof verifier.verifyCallback>[0]);
    },
  };
}

const NOW = { now_ms: 1_700_000_010_000 };
const KEY = 'Zq8sT4vLm2XwRk7PbN5cJd9HfGy3Ua6e';
const [NEW, PAST] = ['aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zC', 'n0Yt5Rf8Wq1Zx4Cv7Bm2Lk9Jh3Gd6Sap'];
const RING = [
  { id: 'new', key: NEW, not_after: '2030-01-01T00:00:00Z' },
  { id: 'old', key: KEY },
  { id: 'past', key: PAST, not_after: '2023-11-01T00:00:00Z' },
];
const [ORDERS, SPLIT_ORDERS] = ['^ORD-[0-9]+$', '^ORD-[0-9]+(:[0-9]+)?$'];

/** The options of a run's verifiers: the default rules first, then each option that affects a verdict, alone and with others. */
const OPTIONS: readonly VectorOptions[] = [
  { ...NOW, signing_key: KEY },
  { ...NOW, signing_keys: RING },
  { ...NOW, signing_key: KEY, colon_in: 'merchant_reference' },
  { ...NOW, signing_key: KEY, colon_in: 'merchant_reference', merchant_reference_pattern: SPLIT_ORDERS },
  { ...NOW, signing_key: KEY, colon_in: 'internal_reference', merchant_reference_pattern: ORDERS },
  { ...NOW, signing_keys: RING, colon_in: 'internal_reference', merchant_reference_pattern: SPLIT_ORDERS },
  { ...NOW, signing_key: KEY, tolerance_seconds: 30 },
  {
    ...NOW,
    signing_keys: RING,
    tolerance_seconds: 0.7,
    redirect_defaults: { event: 'transaction.completed', transaction_type: 'COLLECTION' },
  },
  {
    ...NOW,
    signing_key: `clé-ключ-鉵-🔑${KEY}${NEW}`,
    redirect_defaults: { event: 'transaction.completed' },
  },
];

export function subjects(): readonly Subject[] {
  return OPTIONS.map(subject);
}

export function secondVerdict({ second }: Pick<Subject, 'second'>, input: Input): Verdict {
  return input.channel === 'redirect'
    ? second.redirect(input.query, input.expected)
    : second.callback(input.signature, input.body);
}

/** How a verdict can be wrong, as a count says it. */
export const FAULTS = [
  'false accepts',
  'false refusals',
  'exceptions',
  'accepted with other fields, key or unit',
  'refused for another reason',
] as const;
export type Fault = (typeof FAULTS)[number];

/** What is wrong with core's verdict, according to the right one. */
export function faultOf({ core }: Pick<Subject, 'core'>, input: Input, right: Verdict): Fault | undefined {
  let verdict: CoreVerdict;
  try {
    verdict = core(input);
  } catch {
    return 'exceptions';
  }
  if (!('fields' in right)) {
    if (verdict.ok) return 'false accepts';
    const isSame = verdict.code === right.code || verdict.code === right.or;
    return isSame && verdict.authentic === right.authentic ? undefined : 'refused for another reason';
  }
  if (!verdict.ok) return 'false refusals';
  const { signed, keyId, timestamp } = verdict;
  for (let index = 0; index < NAMES.length; index++)
    if (signed[NAMES[index] ?? 'event'] !== right.fields[index])
      return 'accepted with other fields, key or unit';
  const isSameKey = right.keyId === '' || keyId === right.keyId;
  return isSameKey && timestamp.unit === right.unit ? undefined : 'accepted with other fields, key or unit';
}

/** A vector of openapi/signature-vectors.json, or of a failure. */
export interface Vector {
  readonly channel: 'callback' | 'redirect';
  readonly options: VectorOptions & { readonly expect_reference?: string };
  readonly signature?: unknown;
  readonly query?: string;
  readonly body_text?: string;
  readonly body_hex?: string;
  readonly body_json?: unknown;
}
/** One of the file. */
export interface NamedVector extends Vector {
  readonly name: string;
  readonly expect: Expectation;
}
type Expectation =
  | { ok: true; signed: Record<(typeof NAMES)[number], string>; timestamp_unit: Unit; key_id?: string }
  | { ok: false; code: string; authentic: boolean };

/** The input as a vector, which the Python verifier reads and a developer can add to the file. */
export function asVector(options: VectorOptions, input: Input): Vector {
  if (input.channel === 'redirect') {
    const { query, expected } = input;
    const more = expected === undefined ? {} : { expect_reference: expected };
    return { channel: 'redirect', options: { ...options, ...more }, query };
  }
  const { signature, body } = input;
  const header = signature === undefined ? {} : { signature };
  if (typeof body === 'string') return { channel: 'callback', options, ...header, body_text: body };
  if (!(body instanceof Uint8Array)) return { channel: 'callback', options, ...header, body_json: body };
  return { channel: 'callback', options, ...header, body_hex: Buffer.from(body).toString('hex') };
}

export function fromVector({ channel, options, signature, query = '', ...body }: Vector): Input {
  if (channel === 'redirect') return { channel, query, expected: options.expect_reference };
  const bytes = body.body_hex === undefined ? undefined : new Uint8Array(Buffer.from(body.body_hex, 'hex'));
  return { channel, signature, body: body.body_text ?? bytes ?? body.body_json };
}

/** The verdict that a vector of the file expects. */
export function expectedVerdict({ expect }: { readonly expect: Expectation }): Verdict {
  if (!expect.ok) return { code: expect.code, authentic: expect.authentic };
  const { signed, timestamp_unit: unit, key_id: keyId = '' } = expect;
  return { code: 'ok', fields: NAMES.map((name) => signed[name]), keyId, unit };
}
