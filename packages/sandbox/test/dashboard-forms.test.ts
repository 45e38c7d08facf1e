import { describe, expect, test } from 'vitest';
import { collectionForm, row, textOf } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({});
const { show, submit } = stage;
const problemIn = (text: string): string | undefined => /class="problem small" id="([^"]+)"/.exec(text)?.[1];

describe('a form that is sent', () => {
  test('starts a collection that misbehaves, and leads to its page', async () => {
    const { status, location } = await submit('collections', {
      ...collectionForm,
      misbehave: 'forged_first',
    });
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

  test('offers only misbehaviours and retry rules that the sandbox knows', async () => {
    const text = await show('/start');
    const offered = (name: string): string[] => {
      const [, select = ''] = new RegExp(`name="${name}">(.*?)</select>`, 's').exec(text) ?? [];
      return [...select.matchAll(/value="([^"]*)"/g)].map(([, value = '']) => value);
    };
    const choices = ['misbehave', 'retry'].map((name) => offered(name).map((value) => ({ [name]: value })));
    expect(choices.map(({ length }) => length)).toEqual([10, 5]);
    for (const choice of choices.flat()) {
      const sent = await submit('collections', { ...collectionForm, ending: 'pending', ...choice });
      expect(sent.status).toBe(303);
    }
    const kinds = (await stage.list('/sandbox/transactions')).map((one) => JSON.stringify(one['misbehave']));
    // "As set for the sandbox" and "Normal" are the same while nothing is set.
    expect(new Set(kinds).size).toBe(9);
    expect((await submit('defaults', { retry: 'never' })).status).toBe(400);
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

  test('that is refused keeps what was typed, and explains the error at the field', async () => {
    const { status, text } = await submit('collections', {
      ...collectionForm,
      account: '256700000001',
      customer_name: 'Zoë "Z" <b>',
      misbehave: 'late',
      charge_customer: 'yes',
    });
    expect([status, problemIn(text)]).toEqual([422, 'collection-account-problem']);
    expect(textOf(text)).toContain(
      'Example Mobile Money serves account numbers that start with 25677 or 25678.',
    );
    expect(text).toMatch(
      /id="collection-account" name="account" aria-invalid="true" autofocus aria-describedby="collection-account-hint collection-account-problem" type="text" value="256700000001"/,
    );
    expect(text).toContain('value="Zoë &quot;Z&quot; &lt;b&gt;"');
    expect(text).toContain('<option value="late" selected>');
    expect(text).toMatch(/name="charge_customer" value="yes" checked/);
    // The other form on the page is unchanged.
    expect(text).toMatch(/id="payout-account"[^>]* value="256772000001"/);
  });

  const elsewhere = { callback_url: 'http://a.example/' };
  test.each<[string, string, object, string]>([
    ['collections', 'collection-amount', { amount: '' }, 'Enter an amount above zero'],
    ['collections', 'collection-amount', { amount: '1.5' }, 'This must be exact, with at most 0 decimals'],
    ['collections', 'collection-merchant_reference', { merchant_reference: '' }, 'Enter a reference'],
    ['collections', 'collection-provider', { provider: 'nothing UGX' }, 'No provider serves COLLECTION'],
    ['payouts', 'payout-amount', {}, 'Example Mobile Money accepts UGX 1,000 or more'],
    ['clock', 'clock-advance_seconds', { advance_seconds: 'soon' }, 'Enter whole seconds'],
    ['addresses', 'addresses-callback_url', elsewhere, 'This must be on this computer'],
  ])('refused by %s, names the field %s in words: %o', async (action, place, typed, words) => {
    const filled = action.endsWith('s') && action !== 'addresses' ? collectionForm : {};
    const { status, text } = await submit(action, { ...filled, ...typed });
    expect([400, 422]).toContain(status);
    expect(problemIn(text)).toBe(`${place}-problem`);
    expect(textOf(text)).toContain(words);
    expect(text).not.toMatch(/Invalid input|expected|NaN/);
  });

  test('that is only a button shows the reason of a refusal on a page', async () => {
    stage.collect();
    const outcome = ['transactions/1001/outcome', { outcome: 'completed' }, '/transactions/1001'] as const;
    const { status, text } = await submit(...outcome);
    expect([status, textOf(text)]).toEqual([409, expect.stringContaining('That was refused')]);
    expect(text).toContain('<a href="/transactions/1001">Go back</a>');
  });
});
