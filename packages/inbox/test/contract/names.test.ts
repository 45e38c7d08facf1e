/** Names that match nothing are told at once, and reports that no handler takes are found by doctor. */
import { expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { commandOn, SESSION } from '../support/command.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { LATER, money } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

test('a type, a status or an event that differs from a known one in case or by a letter is told once', async () => {
  const merchant = await newMerchant('sqlite');
  const told: string[] = [];
  const onError = (error: unknown, { kind }: { kind: string }) =>
    told.push(`${kind}: ${String(error).split('. ')[0]}`);
  const inbox = merchant.open({
    ...{ ...LATER, onError },
    completedEvents: ['transaction.completed', 'transaction.complete', 'settlement.completed'],
    statuses: { failed: 'failed', FAILED: 'failed', COMPLETE: 'interim', REVERSED: 'reversed' },
  });
  inbox.handle('paid', () => undefined, { type: 'Collection' });
  inbox.handle('paid', () => undefined, { type: 'PAYOUT' });
  for (const reference of ['A', 'B'])
    await inbox.expect({ ...money(reference), transaction_type: 'COLECTION' });
  await inbox.expect(money('C'));
  expect(told).toEqual([
    "unlikely_name: InboxWarning: createInbox() names the status 'failed'",
    "unlikely_name: InboxWarning: createInbox() names the status 'COMPLETE'",
    "unlikely_name: InboxWarning: createInbox() names the event 'transaction.complete'",
    "unlikely_name: InboxWarning: handle() names the type 'Collection'",
    "unlikely_name: InboxWarning: expect() names the type 'COLECTION'",
  ]);
});

test.each(ENGINES)('doctor on %s names the reports that no handler takes', SESSION, async (engine) => {
  const merchant = await newMerchant(engine);
  const inbox = merchant.open({ ...LATER, onError: () => undefined });
  inbox.handle('paid', () => undefined, { type: 'Collection' });
  await inbox.expect(money('A'));
  await inbox.route.onCallback(paid('A', 500));
  // Genuine fields may hold NUL (threat A10).
  await inbox.route.onCallback(paid('B\0', 500));
  await workOff(inbox);
  const { type, screen } = commandOn(merchant);
  await type('doctor');
  expect(screen()).toContain('No handler accepts reports of COLLECTION with the status COMPLETED (2).');
});
