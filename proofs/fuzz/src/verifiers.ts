import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import {
  createVerifier,
  type Refusal,
  type VerifiedCallback,
  type VerifiedRedirect,
} from '@payment-service/core';

/** In the order of protocol §5.2. */
export const NAMES = [
  'event',
  'merchant_reference',
  'internal_reference',
  'transaction_type',
  'transaction_status',
] as const;

/** The options of a vector in openapi/signature-vectors.json. */
export interface Options {
  readonly now_ms: number;
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
}

/** A callback or redirect as in a vector: a body is text, bytes in hexadecimal, or parsed. */
export interface Input {
  readonly channel: 'callback' | 'redirect';
  readonly signature?: unknown;
  readonly body_text?: string;
  readonly body_hex?: string;
  readonly body_json?: unknown;
  readonly query?: string;
  readonly options?: { readonly expect_reference?: string | undefined };
}

/** Inputs that are judged under the same options. */
export interface Judged {
  readonly options: Options;
  readonly inputs: readonly Input[];
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
const [event, transaction_type] = ['transaction.completed', 'COLLECTION'];

/** The options of a run: the default rules first, then each option that affects a verdict, alone and with others. */
export const OPTIONS: readonly [Options, ...Options[]] = [
  { ...NOW, signing_key: KEY },
  { ...NOW, signing_keys: RING },
  { ...NOW, signing_key: KEY, colon_in: 'merchant_reference' },
  { ...NOW, signing_key: KEY, colon_in: 'merchant_reference', merchant_reference_pattern: SPLIT_ORDERS },
  { ...NOW, signing_key: KEY, colon_in: 'internal_reference', merchant_reference_pattern: ORDERS },
  { ...NOW, signing_keys: RING, colon_in: 'internal_reference', merchant_reference_pattern: SPLIT_ORDERS },
  { ...NOW, signing_key: KEY, tolerance_seconds: 30 },
  { ...NOW, signing_keys: RING, tolerance_seconds: 0.7, redirect_defaults: { event, transaction_type } },
  { ...NOW, signing_key: `clé-ключ-鉵-🔑${KEY}${NEW}`, redirect_defaults: { event } },
];

export function keysOf({ signing_keys, signing_key = '' }: Options): readonly string[] {
  return signing_keys?.map(({ key }) => key) ?? [signing_key];
}

export function hmac(key: string, text: string): string {
  return createHmac('sha256', key).update(text, 'utf8').digest('hex');
}

type CoreVerdict = VerifiedCallback | VerifiedRedirect | Refusal;
export type Core = (input: Input) => CoreVerdict;

export function core(options: Options): Core {
  const { signing_key = '', signing_keys, merchant_reference_pattern: pattern } = options;
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
    now: () => options.now_ms,
  });
  return ({ channel, signature, query = '', options: { expect_reference } = {}, ...body }) => {
    if (channel === 'redirect')
      return verifier.verifyRedirect(
        query,
        expect_reference === undefined ? {} : { expectReference: expect_reference },
      );
    const bytes = body.body_hex === undefined ? undefined : new Uint8Array(Buffer.from(body.body_hex, 'hex'));
    const given = { signature, body: body.body_text ?? bytes ?? body.body_json };
    // Some inputs deliberately have signatures and bodies of wrong types, which the types rule out.
    return verifier.verifyCallback(given as Parameters<typeof verifier.verifyCallback>[0]);
  };
}

/** Accepted, or refused; `or` is another code, if the documents leave the order of two reasons open. */
export type Verdict =
  | readonly [code: 'ok', fields: readonly string[], keyId: string | null, unit: string]
  | readonly [code: string, authentic: boolean, or?: string];

/** The verdicts of the second verifier, in the order of the inputs. @throws {Error} without Python. */
export function secondVerdicts(judged: readonly Judged[]): readonly (readonly Verdict[])[] {
  const program = join(import.meta.dirname, '..', 'second_verifier.py');
  const input = judged.map(({ options, inputs }) => `${JSON.stringify({ options, inputs })}\n`).join('');
  const { stdout, stderr, error } = spawnSync('python3', [program], {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  const lines = (stdout ?? '').split('\n').slice(0, -1);
  if (lines.length === judged.length) return lines.map((line) => JSON.parse(line));
  throw new Error(`The second verifier ended early: ${error ?? stderr}`);
}

/** The ways in which a verdict of core can be wrong, as the results name them. */
export const FAULTS = [
  'false accepts',
  'false refusals',
  'exceptions',
  'accepted with other fields, key or unit',
  'refused for another reason',
] as const;
export type Fault = (typeof FAULTS)[number];

/** What is wrong with core's verdict, according to the right one. */
export function faultOf(judge: Core, input: Input, right: Verdict): Fault | undefined {
  let verdict: CoreVerdict;
  try {
    verdict = judge(input);
  } catch {
    return 'exceptions';
  }
  if (!isAccepted(right)) {
    if (verdict.ok) return 'false accepts';
    const isSame = verdict.code === right[0] || verdict.code === right[2];
    return isSame && verdict.authentic === right[1] ? undefined : 'refused for another reason';
  }
  if (!verdict.ok) return 'false refusals';
  const [, fields, keyId, unit] = right;
  const { signed, timestamp } = verdict;
  const isSame = NAMES.every((name, at) => signed[name] === fields[at]) && timestamp.unit === unit;
  return isSame && (keyId ?? verdict.keyId) === verdict.keyId
    ? undefined
    : 'accepted with other fields, key or unit';
}

function isAccepted(verdict: Verdict): verdict is Extract<Verdict, readonly ['ok', ...unknown[]]> {
  return verdict[0] === 'ok';
}
