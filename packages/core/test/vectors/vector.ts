import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

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

type Expectation =
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

const NAMES = {
  vector: 'name rule threat note channel options signature body_text body_hex body_json query expect',
  options: `signing_key signing_keys tolerance_seconds colon_in merchant_reference_pattern redirect_defaults
    expect_reference now_ms`,
  key: 'id key not_after',
  default: 'event transaction_type',
  signed: SIGNED_NAMES.join(' '),
  expect: 'ok signed key_id timestamp_unit age_seconds code authentic',
};

/** A misspelled member would be an option that no run sets, or an expectation that no run checks. */
function checkNames(kind: keyof typeof NAMES, value: object): void {
  const unknown = Object.keys(value).filter((name) => !NAMES[kind].split(/\s+/).includes(name));
  if (unknown.length > 0) throw new Error(`A vector has the unknown member ${unknown} in ${kind}.`);
}

/** The contract's file, in full: a vector with an unknown member fails the whole run. */
export function readVectors(): { digest_tool: string; vectors: Vector[] } {
  const path = createRequire(import.meta.url).resolve('@payment-service/openapi/signature-vectors.json');
  const file: { digest_tool: string; vectors: Vector[] } = JSON.parse(readFileSync(path, 'utf8'));
  for (const vector of file.vectors) {
    const { options, expect } = vector;
    checkNames('vector', vector);
    checkNames('options', options);
    for (const key of options.signing_keys ?? []) checkNames('key', key);
    checkNames('default', options.redirect_defaults ?? {});
    checkNames('expect', expect);
    checkNames('signed', expect.ok ? expect.signed : {});
  }
  return file;
}
