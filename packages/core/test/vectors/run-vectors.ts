import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { digestName } from '#digest';
import type { VerifierCode } from '../../src/verify/refusal.ts';
import { callbackOf } from '../verify.ts';
import { readVectors, SIGNED_NAMES } from './vector.ts';
import { expectedOf, verdictsOn } from './verdict.ts';

/** Every code of the verifier: the compiler reports one that is missing. */
const CODES: Record<VerifierCode, true> = {
  ...{ signature_missing: true, signature_malformed: true, body_malformed: true, query_malformed: true },
  ...{ signed_field_malformed: true, ambiguous: true, mismatch: true, key_expired: true },
  ...{ timestamp_unreadable: true, timestamp_out_of_tolerance: true, reference_unexpected: true },
};

/** One test for every vector of the contract, on the digest that the import condition has chosen for the calling file. */
export function runVectors(implementation: typeof digestName | '@noble/hashes'): void {
  const { vectors, digest_tool } = readVectors();
  const accepted = vectors.filter((vector) => vector.expect.ok);

  // One vector has a key of eight characters, about which the verifier warns.
  beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));
  afterAll(() => void vi.restoreAllMocks());

  test(`the verifier under test runs on ${implementation}`, () => {
    expect(digestName).toBe(implementation);
    // Threat A6: databases store it.
    expect(callbackOf().transitionId).toBe(
      '97f95b316e2c080cd2b6b9d40f2ea22caf4c897e2ca83978b06e4b2d74268ca2',
    );
  });

  for (const vector of vectors) {
    const verdict = vector.expect.ok ? 'is accepted' : `is refused as ${vector.expect.code}`;
    test(`the vector "${vector.name}" ${verdict}`, () => {
      const expected = expectedOf(vector);
      for (const [form, result] of verdictsOn(vector)) expect(result, form).toMatchObject(expected);
    });
  }

  test('the file of vectors contains both verdicts, both channels and every code of the verifier, and names its tool', () => {
    expect(digest_tool).toMatch(/^OpenSSL \d+\.\d+\.\d+: openssl dgst -sha256 -mac HMAC/);
    expect(accepted.length).toBeGreaterThanOrEqual(50);
    const codes = vectors.flatMap(({ expect: expected }) => (expected.ok ? [] : [expected.code]));
    expect(codes.length).toBeGreaterThanOrEqual(100);
    expect([...new Set(codes)].sort()).toEqual(Object.keys(CODES).sort());
    expect(new Set(accepted.map(({ channel }) => channel))).toEqual(new Set(['callback', 'redirect']));
  });

  test('every vector has a unique name, one key setting, and one body or query', () => {
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
    const misshaped = vectors.filter((vector) => {
      const keys = ['signing_key', 'signing_keys'].filter((name) => name in vector.options);
      const carried = ['body_text', 'body_hex', 'body_json', 'query'].filter((name) => name in vector);
      const isRedirect = vector.channel === 'redirect';
      return keys.length !== 1 || carried.length !== 1 || 'query' in vector !== isRedirect;
    });
    expect(misshaped.map(({ name }) => name)).toEqual([]);
  });

  test('control: every member of an expectation is compared', () => {
    const compared = JSON.stringify(vectors.map(expectedOf));
    const names = ['ok', 'code', 'authentic', 'kind', 'keyId', 'unit', 'ageSeconds', ...SIGNED_NAMES];
    for (const name of names) expect(compared).toContain(`"${name}":`);
  });
}
