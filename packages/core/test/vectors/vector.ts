import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as z from 'zod';

/** One case of the contract's file; openapi/README.md describes the members. */
export interface Vector {
  name: string;
  rule: string;
  threat?: string | undefined;
  note?: string | undefined;
  channel: 'callback' | 'redirect';
  options: {
    signing_key?: string | undefined;
    signing_keys?: { id: string; key: string; not_after?: string | undefined }[] | undefined;
    tolerance_seconds?: number | undefined;
    colon_in?: 'merchant_reference' | 'internal_reference' | undefined;
    merchant_reference_pattern?: string | undefined;
    redirect_defaults?: { event?: string; transaction_type?: string } | undefined;
    expect_reference?: string | undefined;
    now_ms: number;
  };
  signature?: unknown;
  body_text?: string | undefined;
  body_hex?: string | undefined;
  body_json?: unknown;
  query?: string | undefined;
  expect: Expectation;
}

export type Expectation =
  | {
      ok: true;
      signed: { [Name in (typeof SIGNED_NAMES)[number]]: string };
      key_id?: string | undefined;
      timestamp_unit: 'seconds' | 'milliseconds' | 'unreadable';
      age_seconds?: number | undefined;
    }
  | { ok: false; code: string; authentic: boolean };

export const SIGNED_NAMES = [
  'event',
  'merchant_reference',
  'internal_reference',
  'transaction_type',
  'transaction_status',
] as const;

// Strict objects: a misspelled member would be an option that no run ever sets, or an expectation that none checks.
const Key = z.strictObject({ id: z.string(), key: z.string(), not_after: z.iso.datetime().optional() });

const Options = z.strictObject({
  signing_key: z.string().optional(),
  signing_keys: z.array(Key).optional(),
  tolerance_seconds: z.number().optional(),
  colon_in: z.enum(['merchant_reference', 'internal_reference']).optional(),
  merchant_reference_pattern: z.string().optional(),
  redirect_defaults: z.partialRecord(z.enum(['event', 'transaction_type']), z.string()).optional(),
  expect_reference: z.string().optional(),
  now_ms: z.number(),
});

const Accepted = z.strictObject({
  ok: z.literal(true),
  signed: z.record(z.enum(SIGNED_NAMES), z.string()),
  key_id: z.string().optional(),
  timestamp_unit: z.enum(['seconds', 'milliseconds', 'unreadable']),
  age_seconds: z.number().optional(),
});

const Refused = z.strictObject({ ok: z.literal(false), code: z.string(), authentic: z.boolean() });

const VectorShape: z.ZodType<Vector> = z.strictObject({
  name: z.string(),
  rule: z.string(),
  threat: z.string().optional(),
  note: z.string().optional(),
  channel: z.enum(['callback', 'redirect']),
  options: Options,
  signature: z.unknown().optional(),
  body_text: z.string().optional(),
  body_hex: z.string().optional(),
  body_json: z.unknown().optional(),
  query: z.string().optional(),
  expect: z.discriminatedUnion('ok', [Accepted, Refused]),
});

const FileShape = z.strictObject({
  description: z.string(),
  digest_tool: z.string(),
  vectors: z.array(VectorShape),
});

/** The contract's file, in full: a vector of another shape fails the whole run. */
export function readVectors(): { digest_tool: string; vectors: Vector[] } {
  const path = createRequire(import.meta.url).resolve('@payment-service/openapi/signature-vectors.json');
  return FileShape.parse(JSON.parse(readFileSync(path, 'utf8')));
}
