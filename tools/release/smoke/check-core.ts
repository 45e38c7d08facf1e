import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import {
  ConfigurationError,
  confirmAmount,
  createVerifier,
  PaymentServiceError,
} from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { type Vector, wrongVerdicts } from './wrong-verdicts.ts';

const signingKey = 'SMOKE-SIGNING-KEY';

/** Every vector of the contract, then the steps from a signed body to a confirmed amount. */
export function checkCore(vectorsPath: string): void {
  const { vectors } = JSON.parse(readFileSync(vectorsPath, 'utf8')) as { vectors: Vector[] };
  assert.ok(vectors.length >= 150);
  const { warn } = console;
  const warnings: string[] = [];
  console.warn = (warning: string) => warnings.push(warning);
  assert.deepEqual(wrongVerdicts(vectors), []);
  console.warn = warn;
  // Some vectors have short keys: one warning for all of them.
  assert.equal(warnings.length, 1);
  assert.match(warnings.join(), /fewer than 16 characters/);

  const data = sampleCallback();
  const body = JSON.stringify(data);
  const signature = signCallback({ signingKey, data });
  const verifier = createVerifier({ signingKey });
  const callback = verifier.verifyCallback({ signature, body });
  assert.ok(callback.ok);
  assert.deepEqual(confirmAmount(callback, { currency: 'UGX', amount: '500' }), { ok: true });
  assert.equal(confirmAmount(callback, { currency: 'UGX', amount: '5' }).ok, false);
  const status: string = callback.signed.transaction_status;
  const amount: number | undefined = callback.unsigned.transaction_amount;
  assert.deepEqual([status, amount], ['COMPLETED', 500]);

  const forged = verifier.verifyCallback({ signature, body: body.replace('ORD-1001', 'ORD-1002') });
  assert.equal(forged.ok ? 'accepted' : forged.code, 'mismatch');

  const redirect = verifier.verifyRedirect('?');
  // @ts-expect-error: a redirect, refused or not, never confirms an amount.
  const misuse = (): unknown => confirmAmount(redirect, { currency: 'UGX', amount: '500' });
  assert.throws(misuse, ConfigurationError);
  assert.throws(() => createVerifier({ signingKey: undefined }), PaymentServiceError);
}
