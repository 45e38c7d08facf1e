import { randomBytes } from 'node:crypto';
import { ConfigurationError, UnavailableError } from '@payment-service/core';
import { expect, test } from 'vitest';
import { MAX_EVIDENCE } from '../../src/intake/record.ts';
import { callback, evidence, paid } from '../support/callbacks.ts';
import { LATER, money, NOTE, newShop, seen } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const KIB = 1024;
const TOLERANCE = 'timestamp_out_of_tolerance';

test('evidence is stored, and nothing is applied from a body that can be read in two ways', async () => {
  const { merchant, inbox } = await newShop('sqlite', { ...LATER, colonIn: 'merchant_reference' });
  const refusal = evidence('ambiguous');
  await inbox.route.onAuthenticRefusal(refusal);
  await inbox.route.onAuthenticRefusal(refusal);
  const [{ transitionId } = { transitionId: '' }] = await inbox.list();
  const bodies = [{ refusal: 'ambiguous', deliveries: 2 }];
  const kept = { state: 'quarantined', reason: 'ambiguous', bodies };
  expect(await inbox.show(transitionId)).toMatchObject({ ...kept, nextAt: undefined });
  await inbox.expect(money('ORD:1001'));
  await inbox.retry(await seen(inbox, transitionId), NOTE);
  await workOff(inbox);
  expect(await inbox.show(transitionId)).toMatchObject(kept);
  await expect(inbox.reopen(await seen(inbox, transitionId), NOTE)).rejects.toMatchObject({
    code: 'invalid_state',
  });
  const body = (await inbox.show(transitionId))?.bodies[0]?.digest;
  await expect(inbox.accept(await seen(inbox, transitionId), { ...NOTE, body: body ?? '' })).rejects.toThrow(
    ConfigurationError,
  );
  await inbox.resolve(await seen(inbox, transitionId), NOTE);
  expect(await merchant.credits()).toEqual([]);
});

test('evidence that only the tolerance refused is applied when an operator reopens it', async () => {
  const { merchant, inbox } = await newShop('sqlite', LATER);
  const refusal = evidence(TOLERANCE);
  const { transitionId } = refusal.evidence;
  await inbox.route.onAuthenticRefusal(refusal);
  await inbox.expect(money('ORD-1001'));
  await workOff(inbox);
  expect(await inbox.show(transitionId)).toMatchObject({ state: 'quarantined', reason: TOLERANCE });
  await inbox.reopen(await seen(inbox, transitionId), NOTE);
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['ORD-1001 500']);
});

test('evidence becomes a callback when it is delivered again and verifies, and otherwise never counts as a body', async () => {
  const { merchant, inbox, deliver } = await newShop('sqlite', LATER);
  const second = { merchant_reference: 'ORD-2', internal_reference: 'INT-ORD-2' };
  await inbox.route.onAuthenticRefusal(evidence(TOLERANCE));
  await deliver(callback(), paid('ORD-2', 700));
  await inbox.route.onAuthenticRefusal(evidence(TOLERANCE, second));
  await workOff(inbox);
  expect((await inbox.stats()).reasons).toEqual({ no_expectation: 2 });
  const received = merchant.events.filter(({ name }) => name === 'callback.received');
  expect(received).toMatchObject([true, false, false, true].map((isEvidence) => ({ isEvidence })));
  for (const reference of ['ORD-1001', 'ORD-2']) await inbox.expect(money(reference));
  await workOff(inbox);
  expect(await inbox.list({ state: 'settled' })).toMatchObject([{ deliveries: 2, bodyCount: 1 }]);
  expect(await inbox.list({ reason: 'amount_mismatch' })).toMatchObject([{ bodyCount: 2 }]);
  // Not even if an operator reopens it, which only evidence allows.
  await inbox.reopen(await seen(inbox, paid('ORD-2', 700).transitionId), NOTE);
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['ORD-1001 500']);
});

test('threat A34: all readings of one signed string share one row and one limit, and the rest is counted', async () => {
  const { merchant, inbox } = await newShop('sqlite');
  const all = readings();
  const answers = await Promise.allSettled(all.map((reading) => inbox.route.onAuthenticRefusal(reading)));
  const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  const refusedBodies = all.length - MAX_EVIDENCE;
  expect(refused).toHaveLength(refusedBodies);
  for (const reason of refused) expect(reason).toBeInstanceOf(UnavailableError);
  expect(await inbox.list()).toMatchObject([{ bodyCount: MAX_EVIDENCE, refusedBodies, reason: 'ambiguous' }]);
  expect(await merchant.query(`select 1 from ${merchant.table('body')}`)).toHaveLength(MAX_EVIDENCE);
  // Another signed string has its own row.
  await inbox.route.onAuthenticRefusal(evidence('ambiguous'));
  expect(await inbox.list()).toHaveLength(2);
});

test('threat A34: a body of more than 64 KiB is refused, whether or not it was parsed, and nothing is stored', async () => {
  const { inbox } = await newShop('sqlite');
  const largest = callback({}, { rewrite: (text) => filled(text, 64 * KIB) });
  const larger = callback({}, { rewrite: (text) => filled(text, 64 * KIB + 1) });
  await expect(inbox.route.onCallback(larger)).rejects.toThrow(ConfigurationError);
  await expect(inbox.route.onCallback(larger)).rejects.toThrow('64 KiB');
  const refused = evidence(TOLERANCE, { customer_name: 'x'.repeat(65 * KIB) });
  await expect(inbox.route.onAuthenticRefusal(refused)).rejects.toThrow('64 KiB');
  expect(await inbox.list()).toEqual([]);
  await inbox.route.onCallback(largest);
  expect(await inbox.list()).toHaveLength(1);
});

/** Ways to read one signed string as five fields. */
function readings(): ReturnType<typeof evidence>[] {
  const parts = Array.from({ length: 10 }, (_, index) => `part ${index}`);
  return parts.slice(1).map((_, index) => {
    const merchant_reference = parts.slice(0, index + 1).join(':');
    const internal_reference = parts.slice(index + 1).join(':');
    const others = { transaction_type: 'x', transaction_status: 'y' };
    return evidence('ambiguous', { merchant_reference, internal_reference, ...others });
  });
}

/** An incompressible string. */
const NOISE = randomBytes(48 * KIB).toString('base64');

/** The JSON text with a further member of the given length in bytes. */
function filled(text: string, bytes: number): string {
  return `${text.slice(0, -1)},"filled":"${NOISE.slice(0, bytes - Buffer.byteLength(text) - 12)}"}`;
}
