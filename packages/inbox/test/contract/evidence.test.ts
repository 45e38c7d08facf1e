import { randomBytes } from 'node:crypto';
import { ConfigurationError, UnavailableError } from '@payment-service/core';
import { expect, test } from 'vitest';
import { MAX_EVIDENCE } from '../../src/intake/verified-record.ts';
import { callback, evidence, paid } from '../support/callbacks.ts';
import { actOnReport, LATER, money, newShop } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const KIB = 1024;
const TOLERANCE = 'timestamp_out_of_tolerance';

test('evidence is stored, and nothing is applied from a body that can be read in two ways', async () => {
  const { merchant, inbox } = await newShop('sqlite', { ...LATER, colonIn: 'merchant_reference' });
  const refusal = evidence('ambiguous');
  await inbox.route.onAuthenticRefusal(refusal);
  await inbox.route.onAuthenticRefusal(refusal);
  const [{ transitionId } = { transitionId: '' }] = await inbox.reports();
  const bodies = [{ refusal: 'ambiguous', deliveries: 2 }];
  const kept = { state: 'quarantined', reason: 'ambiguous', bodies };
  expect(await inbox.report(transitionId)).toMatchObject({ ...kept, nextAt: undefined });
  await inbox.expect(money('ORD:1001'));
  await actOnReport(inbox, transitionId, 'retry');
  await workOff(inbox);
  expect(await inbox.report(transitionId)).toMatchObject(kept);
  await expect(actOnReport(inbox, transitionId, 'apply')).rejects.toMatchObject({
    code: 'invalid_state',
  });
  await expect(actOnReport(inbox, transitionId, 'accept')).rejects.toMatchObject({ code: 'invalid_state' });
  await actOnReport(inbox, transitionId, 'close');
  await expect(actOnReport(inbox, transitionId, 'apply')).rejects.toThrow('read in more than one way');
  expect(await merchant.credits()).toEqual([]);
});

test('evidence that only the tolerance refused is applied when an operator applies it after all', async () => {
  const { merchant, inbox } = await newShop('sqlite', LATER);
  const refusal = evidence(TOLERANCE);
  const { transitionId } = refusal.evidence;
  await inbox.route.onAuthenticRefusal(refusal);
  await inbox.expect(money('ORD-1001'));
  await workOff(inbox);
  expect(await inbox.report(transitionId)).toMatchObject({ state: 'quarantined', reason: TOLERANCE });
  await actOnReport(inbox, transitionId, 'apply');
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
  expect(await inbox.reports({ reason: 'no_expectation' })).toHaveLength(2);
  const received = merchant.events.filter(({ name }) => name === 'callback.received');
  expect(received).toMatchObject([true, false, false, true].map((isEvidence) => ({ isEvidence })));
  for (const reference of ['ORD-1001', 'ORD-2']) await inbox.expect(money(reference));
  await workOff(inbox);
  expect(await inbox.reports({ state: 'settled' })).toMatchObject([{ deliveries: 2, bodyCount: 1 }]);
  expect(await inbox.reports({ reason: 'amount_mismatch' })).toMatchObject([{ bodyCount: 2 }]);
  // Not even if an operator retries it.
  await actOnReport(inbox, paid('ORD-2', 700).transitionId, 'retry');
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
  expect(await inbox.reports()).toMatchObject([
    { bodyCount: MAX_EVIDENCE, refusedBodies, reason: 'ambiguous' },
  ]);
  expect(await merchant.query(`select 1 from ${merchant.table('body')}`)).toHaveLength(MAX_EVIDENCE);
  // Another signed string has its own row.
  await inbox.route.onAuthenticRefusal(evidence('ambiguous'));
  expect(await inbox.reports()).toHaveLength(2);
});

test('threat A34: a body of more than 64 KiB is refused, whether or not it was parsed, and nothing is stored', async () => {
  const { inbox } = await newShop('sqlite');
  const largest = callback({}, { rewrite: (text) => filled(text, 64 * KIB) });
  const larger = callback({}, { rewrite: (text) => filled(text, 64 * KIB + 1) });
  await expect(inbox.route.onCallback(larger)).rejects.toThrow(ConfigurationError);
  await expect(inbox.route.onCallback(larger)).rejects.toThrow('64 KiB');
  const refused = evidence(TOLERANCE, { customer_name: 'x'.repeat(65 * KIB) });
  await expect(inbox.route.onAuthenticRefusal(refused)).rejects.toThrow('64 KiB');
  expect(await inbox.reports()).toEqual([]);
  await inbox.route.onCallback(largest);
  expect(await inbox.reports()).toHaveLength(1);
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
