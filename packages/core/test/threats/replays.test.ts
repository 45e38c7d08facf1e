import { expect, test } from 'vitest';
import { transitionId } from '../../src/index.ts';
import { callbackData, OTHER_KEY, QUERY, SIGNATURE, signatureFor, T } from '../signed-callbacks.ts';
import { accepted, sign, verifier, verify } from '../verify.ts';

// One transition, sent again: with another t, with other ids, or as a retry. Storage against threat A1 and threat A6 belongs to
// the inbox.

test('threat A1, threat A4, threat A6: any t verifies, and the transition id depends on the account and the signed fields only', () => {
  const ids = [1, 2, 3].map((id) => {
    const signature = signatureFor('ORD-1001', T + id);
    return accepted(verify(callbackData({ id }), signature, { toleranceSeconds: 30 })).transitionId;
  });
  const rotated = { signingKey: [{ id: 'b', key: OTHER_KEY }] };
  const signature = sign(callbackData(), OTHER_KEY);
  ids.push(accepted(verify(callbackData(), signature, rotated)).transitionId);
  ids.push(accepted(verifier.verifyRedirect(QUERY)).transitionId);
  expect(new Set(ids).size).toBe(1);
});

test('threat A6: tuples that join to the same string have different ids', () => {
  const fields = { internal_reference: 'i', transaction_type: 't', transaction_status: 's' };
  const shifts = [
    { ...fields, event: 'e', merchant_reference: 'A:B' },
    { ...fields, event: 'e:A', merchant_reference: 'B' },
    { ...fields, event: 'eA', merchant_reference: ':B' },
    { ...fields, event: '', merchant_reference: 'e:A:B' },
  ];
  const ids = shifts.flatMap((signed) => [undefined, 'e', 'e:'].map((label) => transitionId(signed, label)));
  expect(new Set(ids).size).toBe(12);
  for (const signed of shifts) expect(transitionId(signed, '')).toBe(transitionId(signed));
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{64}$/);
});

test('threat A6: the id of a transition never changes, since databases store it', () => {
  const account = 'shop-\u00fc';
  const callback = accepted(verify(callbackData(), SIGNATURE, { account }));
  expect(callback.transitionId).toBe(transitionId(callback.signed, account));
  const signed = { ...callback.signed, merchant_reference: 'Caf\u00e9\u{1f600}', internal_reference: '' };
  expect(transitionId(signed, account)).toBe(
    'e5d92359497933a046fd43eb6b0ef2b0347badd0205c5d009c98a06ff9f1f8f2',
  );
});
