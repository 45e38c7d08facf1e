/** A signature that was kept can be verified again, by a check that holds the keys of a route (threat A66). */
import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { createVerifier, type SignedFields, type VerifierOptions } from '../../src/index.ts';
import { proofOf, type SignatureCheck, takingCheck } from '../../src/internal.ts';
import { createCallbackReceiver } from '../../src/receive/index.ts';
import { callbackData, SIGNATURE, SIGNING_KEY, signatureFor } from '../signed-callbacks.ts';

const SIGNED: SignedFields = {
  event: 'transaction.completed',
  merchant_reference: 'ORD-1001',
  internal_reference: 'INT-77',
  transaction_type: 'COLLECTION',
  transaction_status: 'COMPLETED',
};
const KEPT = { signed: SIGNED, signature: SIGNATURE, account: '' };

/** What a route with these options offers to an inbox. */
function offered(options: Partial<VerifierOptions> = {}): SignatureCheck {
  const taken: SignatureCheck[] = [];
  const onCallback = takingCheck(
    () => undefined,
    (check) => taken.push(check),
  );
  createCallbackReceiver({ signingKey: SIGNING_KEY, ...options, onCallback });
  const [check] = taken;
  return check ?? expect.fail('The route offered nothing.');
}

test('a route offers its check when it is made, and the check verifies what was kept, without the tolerance', () => {
  const check = offered({ toleranceSeconds: 1 });
  expect(check(KEPT)).toEqual({ keyId: 'default', isAmbiguous: false });
  const wrong = [
    { ...KEPT, signed: { ...SIGNED, merchant_reference: 'ORD-2' } },
    { ...KEPT, signed: { ...SIGNED, merchant_reference: '\ud800' } },
    { ...KEPT, signature: `t=1,s=${'0'.repeat(64)}` },
    { ...KEPT, signature: '' },
    { ...KEPT, account: 'north' },
  ];
  for (const kept of wrong) expect(check(kept)).toBeUndefined();
  expect(inspect(check, { depth: 9, showHidden: true })).not.toContain(SIGNING_KEY);
});

test("the check applies notAfter and the ':' rules of its route as they are now", () => {
  let now = 1000;
  const keys = [{ id: 'old', key: SIGNING_KEY, notAfter: new Date(2000) }];
  const check = offered({ signingKey: keys, now: () => now });
  expect(check(KEPT)).toEqual({ keyId: 'old', isAmbiguous: false });
  now = 2001;
  expect(check(KEPT)).toBeUndefined();
  const colon = { ...KEPT, signed: { ...SIGNED, merchant_reference: 'A:B' }, signature: signatureFor('A:B') };
  expect(offered()(colon)).toMatchObject({ isAmbiguous: true });
  expect(offered({ colonIn: 'merchant_reference' })(colon)).toMatchObject({ isAmbiguous: false });
});

test('a verified callback holds the signature and the check of its verifier, also for another copy of core', async () => {
  const result = createVerifier({ signingKey: SIGNING_KEY }).verifyCallback({
    signature: SIGNATURE,
    body: JSON.stringify(callbackData()),
  });
  if (!result.ok) throw new Error(`Refused: ${result.code}`);
  vi.resetModules();
  const other = await import('../../src/internal.ts');
  for (const proof of [proofOf(result), other.proofOf(result)]) {
    expect(proof?.signature).toBe(SIGNATURE);
    expect(proof?.check(KEPT)).toEqual({ keyId: 'default', isAmbiguous: false });
  }
  expect(proofOf({ ...result })).toBeUndefined();
  expect(inspect(result, { depth: 9 })).not.toContain(SIGNATURE);
});

test('threat A42: a handler is not asked through a polluted prototype', () => {
  const name = Symbol.for('@payment-service/core/takes-check/1');
  const take = vi.fn();
  Object.defineProperty(Function.prototype, name, { value: take, configurable: true });
  try {
    createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: () => undefined });
    expect(take).not.toHaveBeenCalled();
  } finally {
    Reflect.deleteProperty(Function.prototype, name);
  }
});
