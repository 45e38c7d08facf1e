import { beforeEach, describe, expect, test } from 'vitest';
import { collectionForm, row } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({});
const { show, submit } = stage;

describe('a form that is sent', () => {
  test('starts a collection that misbehaves, and leads to its page', async () => {
    const form = { ...collectionForm, misbehave: 'forged_first' };
    const { status, location } = await submit('collections', form);
    expect([status, location]).toEqual([303, '/transactions/1001']);
    await stage.sandbox.idle();
    expect(stage.payloads().map(({ transaction_amount }) => transaction_amount)).toEqual([1, 500]);
  });

  test('without an account, uses one that the provider serves, and the first active bank', async () => {
    const { account: _, ...rest } = { ...collectionForm, amount: '100000' };
    const kenyan = await submit('collections', { ...rest, provider: 'savanna_mobile_money KES' });
    await submit('collections', rest);
    await submit('transfers', { currency: 'UGX', amount: '20000' });
    const paid = await submit('payouts', { ...rest, provider: 'example_bank UGX', amount: '5000' });
    expect([kenyan.status, paid.status]).toEqual([303, 303]);
    expect(row(await show('/wallets'), 'wallets-UGX-MERCHANT_PAYOUT')).toContain('UGX 15,000');
  });

  test('returns to the page and the place that it was sent from, and to no other site', async () => {
    stage.collect({ misbehave: { late_ms: 60_000 } });
    const at = async (from: string, place: string) => (await submit('release', { at: place }, from)).location;
    const filtered = '/deliveries?state=waiting&page=2';
    expect(await at(filtered, 'deliveries-1001')).toBe(`${filtered}#deliveries-1001`);
    expect(await at('/deliveries', '"><script>')).toBe('/deliveries');
    const foreign = await stage.sandbox.fetch('http://127.0.0.1/dashboard/release', {
      method: 'POST',
      headers: { referer: 'http://elsewhere.example/x' },
      redirect: 'manual',
    });
    expect(foreign.headers.get('location')).toBe('/');
  });
});

describe('a composition', () => {
  beforeEach(() => {
    stage.open({ retry: { max_attempts: 1 } });
    return stage.deliver();
  });

  test('is sent as shown, with copies, and leads to the delivery', async () => {
    const fields = { extra_fields: '{"note":"hello"}', omit_fields: 'customer_name, id' };
    const typed = { duplicate: '1', retry: 'none', ...fields };
    const { status, location } = await submit('compose/1001', typed, '/compose/1001');
    expect([status, location, stage.sandbox.deliveries().length]).toEqual([303, '/deliveries/2', 3]);
    await stage.sandbox.idle();
    const { note, customer_name, id } = JSON.parse(stage.merchant.received[1]?.body ?? '').payload;
    expect([note, customer_name, id]).toEqual(['hello', undefined, undefined]);
    const text = await stage.read('/deliveries/2');
    expect(text).toContain('What differs from the genuine callback');
    expect(text).toContain('+ "note": "hello" added');
  });

  test('with an edited body is sent as typed, with its line breaks', async () => {
    await submit('compose/1', { body: 'not\r\nJSON', signature: 'keep' });
    const second = stage.sandbox.deliveries()[1];
    expect(second?.body).toBe('not\nJSON');
    const { location } = await submit(`compose/${second?.id}`, { body: 'other' });
    expect(await stage.read(location ?? '')).toContain(
      `What differs from delivery ${second?.id} - not was - JSON was + other added`,
    );
  });
});
