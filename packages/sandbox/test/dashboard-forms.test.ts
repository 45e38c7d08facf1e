import { beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../src/index.ts';
import { call, collection, listOf } from './support/api.ts';
import { collectionForm, row, submit, textOf } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
let sandbox: Sandbox;
beforeEach(() => {
  sandbox = stage.open();
});

const { show } = stage;
const problemIn = (text: string): string | undefined => /class="problem small" id="([^"]+)"/.exec(text)?.[1];
describe('a form that is sent', () => {
  test('starts a collection that misbehaves, and leads to its page', async () => {
    const { status, location } = await submit(sandbox, 'collections', {
      ...collectionForm,
      misbehave: 'forged_first',
    });
    expect([status, location]).toEqual([303, '/transactions/1001']);
    await sandbox.idle();
    expect(stage.merchant.received.map(({ data }) => data.payload.transaction_amount)).toEqual([1, 500]);
  });

  test('without an account, uses one that the provider serves, and the first active bank', async () => {
    const { account: _, ...rest } = collectionForm;
    expect(
      (
        await submit(sandbox, 'collections', {
          ...rest,
          provider: 'savanna_mobile_money KES',
          amount: '100000',
        })
      ).status,
    ).toBe(303);
    await submit(sandbox, 'collections', { ...rest, amount: '100000' });
    await submit(sandbox, 'transfers', { currency: 'UGX', amount: '20000' });
    const paid = await submit(sandbox, 'payouts', { ...rest, provider: 'example_bank UGX', amount: '5000' });
    expect(paid.status).toBe(303);
    expect(row(await show('/wallets'), 'wallets-UGX-MERCHANT_PAYOUT')).toContain('UGX 15,000');
  });

  test('offers only misbehaviours and retry rules that the sandbox knows', async () => {
    const offered = (text: string, name: string): string[] => {
      const [, select = ''] = new RegExp(`name="${name}">(.*?)</select>`, 's').exec(text) ?? [];
      return [...select.matchAll(/value="([^"]*)"/g)].map(([, value]) => value ?? '');
    };
    const text = await show('/start');
    expect([offered(text, 'misbehave').length, offered(text, 'retry').length]).toEqual([10, 5]);
    for (const misbehave of offered(text, 'misbehave')) {
      expect(
        (await submit(sandbox, 'collections', { ...collectionForm, ending: 'pending', misbehave })).status,
      ).toBe(303);
    }
    for (const retry of offered(text, 'retry')) {
      expect(
        (await submit(sandbox, 'collections', { ...collectionForm, ending: 'pending', retry })).status,
      ).toBe(303);
    }
    const kinds = listOf(await call(sandbox, 'GET', '/sandbox/transactions'), 'transactions').map(
      ({ misbehave }) => JSON.stringify(misbehave),
    );
    // "As set for the sandbox" and "Normal" are the same while nothing is set.
    expect(new Set(kinds).size).toBe(9);
    expect((await submit(sandbox, 'defaults', { retry: 'never' })).status).toBe(400);
  });

  test('returns to the page and the place that it was sent from, and to no other site', async () => {
    sandbox.collect({ ...collection, misbehave: { late_ms: 60_000 } });
    const at = (from: string, place: string) =>
      submit(sandbox, 'release', { at: place }, from).then(({ location }) => location);
    expect(await at('/deliveries?state=waiting&page=2', 'deliveries-1001')).toBe(
      '/deliveries?state=waiting&page=2#deliveries-1001',
    );
    expect(await at('/deliveries', '"><script>')).toBe('/deliveries');
    const foreign = await sandbox.fetch('http://127.0.0.1/dashboard/release', {
      method: 'POST',
      headers: { referer: 'http://elsewhere.example/x' },
      redirect: 'manual',
    });
    expect(foreign.headers.get('location')).toBe('/');
  });

  test('that is refused keeps what was typed, and explains the error at the field', async () => {
    const typed = {
      ...collectionForm,
      account: '256700000001',
      customer_name: 'Zoë "Z" <b>',
      misbehave: 'late',
      charge_customer: 'yes',
    };
    const { status, text } = await submit(sandbox, 'collections', typed, '/start');
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
    // The other form on the page is as it was.
    expect(text).toMatch(/id="payout-account"[^>]* value="256772000001"/);
  });

  test.each([
    [
      'collections',
      { ...collectionForm, amount: '' },
      'collection-amount-problem',
      'Enter an amount above zero',
    ],
    [
      'collections',
      { ...collectionForm, amount: '1.5' },
      'collection-amount-problem',
      'This must be exact, with at most 0 decimals in UGX.',
    ],
    [
      'collections',
      { ...collectionForm, merchant_reference: '' },
      'collection-merchant_reference-problem',
      'Enter a reference',
    ],
    ['payouts', collectionForm, 'payout-amount-problem', 'Example Mobile Money accepts UGX 1,000 or more'],
    ['clock', { advance_seconds: 'soon' }, 'clock-advance_seconds-problem', 'Enter whole seconds'],
    [
      'addresses',
      { callback_url: 'http://elsewhere.example/' },
      'addresses-callback_url-problem',
      'This must be on this computer',
    ],
  ])('refused with %s %o, names the field in words', async (action, typed, place, words) => {
    const { status, text } = await submit(sandbox, action, typed);
    expect([400, 422]).toContain(status);
    expect(problemIn(text)).toBe(place);
    expect(textOf(text)).toContain(words);
    expect(text).not.toMatch(/Invalid input|expected|NaN/);
  });

  test('that is only a button shows the reason of a refusal on a page', async () => {
    sandbox.collect(collection);
    const { status, text } = await submit(
      sandbox,
      'transactions/1001/outcome',
      { outcome: 'completed' },
      '/transactions/1001',
    );
    expect([status, textOf(text).includes('That was refused')]).toEqual([409, true]);
    expect(text).toContain('<a href="/transactions/1001">Go back</a>');
  });
});
