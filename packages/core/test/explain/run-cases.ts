import { expect, test } from 'vitest';
import { REASONS } from '../../src/explain/causes.ts';
import { type ExplainedRequest, type Explanation, explain } from '../../src/explain/index.ts';
import { SIGNING_KEY } from '../signed-callbacks.ts';
import { NOW } from '../verify.ts';
import type { Case } from './case.ts';
import { FIELDS } from './cases-of-fields.ts';
import { REQUESTS } from './cases-of-requests.ts';
import { SIGNERS } from './cases-of-signers.ts';
import { PUBLIC_KEY, SECRET_KEY } from './wrong-signer.ts';

export const CASES: readonly Case[] = [...REQUESTS, ...FIELDS, ...SIGNERS];
const KEYS = { signingKey: SIGNING_KEY, publicKey: PUBLIC_KEY, secretKey: SECRET_KEY };

export function explained([, , , , settings = {}]: Case, request: ExplainedRequest): Explanation {
  const { signingKey, publicKey, secretKey, others, ...options } = { ...KEYS, ...settings };
  return explain(request, { signingKey, publicKey, secretKey, others }, { now: () => NOW, ...options });
}

/** Every mistake gets its cause, and every cause has a mistake. */
export function runCases(): void {
  for (const one of CASES) {
    const [cause, mistake, request, shows] = one;
    test(`explain() names ${cause}: ${mistake}`, () => {
      const found = explained(one, request);
      expect(found).toMatchObject({ cause, ok: cause === 'verified', detail: expect.stringMatching(shows) });
      expect([found.title, found.detail, found.fix]).toEqual(
        Array(3).fill(expect.stringMatching(/^[^ ].*\.$/)),
      );
    });
  }

  test('every cause of explain() is produced', () => {
    expect(new Set(CASES.map(([cause]) => cause))).toEqual(new Set(Object.keys(REASONS)));
  });
}
