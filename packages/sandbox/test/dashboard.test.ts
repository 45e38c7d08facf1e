import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../src/index.ts';
import { call, collection, listOf } from './support/api.ts';
import { type Merchant, startMerchant } from './support/merchant.ts';
import { until } from './support/stage.ts';

let merchant: Merchant;
let sandbox: Sandbox;
beforeEach(async () => {
  merchant = await startMerchant();
  sandbox = createSandbox({ callbackUrl: merchant.url });
});
afterEach(async () => {
  await sandbox.close();
  await merchant.close();
});

const show = async (): Promise<string> => (await sandbox.fetch('http://127.0.0.1/')).text();

/** Sends a form, and answers the status and the page that follows. */
async function submit(action: string, fields: Record<string, string> = {}): Promise<[number, string]> {
  const response = await sandbox.fetch(`http://127.0.0.1/dashboard/${action}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
  if (response.status === 303) expect(response.headers.get('location')).toBe('/');
  return [response.status, response.status === 303 ? await show() : await response.text()];
}

const fields = {
  merchant_reference: 'ORD-1',
  provider: 'example_mobile_money UGX',
  amount: '500',
  account: '256772000001',
  ending: 'direct completed',
};
const problemIn = (text: string): string | undefined => /role="alert">([^<]*)</.exec(text)?.[1];

describe('the dashboard', () => {
  it('shows the keys, the wallets and that it is simulated', async () => {
    const text = await show();
    for (const key of Object.values(sandbox.account)) expect(text).toContain(key);
    for (const part of [
      'Simulated',
      'UGX MERCHANT_COLLECTION',
      'KES MERCHANT_PAYOUT',
      'width=device-width',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('needs nothing from elsewhere, runs no script, and is not framed or cached', async () => {
    const response = await sandbox.fetch('http://127.0.0.1/');
    const text = await response.text();
    const nonce = /<style nonce="([^"]+)">/.exec(text)?.[1];
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(text).not.toMatch(/<script|<link|<img|\ssrc=|style="|\son\w+=/);
  });

  it('every form of it goes to a route that exists', async () => {
    sandbox.collect({ ...collection, mode: 'pending' });
    sandbox.collect(collection);
    await sandbox.idle();
    const actions = [...(await show()).matchAll(/action="([^"]+)"/g)].map(([, action]) => action ?? '');
    expect(new Set(actions).size).toBe(10);
    // Reset comes last: the others need something to act on.
    const ordered = [...new Set(actions)].sort(
      (a, b) => Number(a.endsWith('reset')) - Number(b.endsWith('reset')),
    );
    for (const action of ordered) {
      const response = await sandbox.fetch(`http://127.0.0.1${action}`, {
        method: 'POST',
        redirect: 'manual',
      });
      expect([303, 400, 422]).toContain(response.status);
    }
  });

  it('starts a collection that misbehaves, and shows its deliveries with their attempts', async () => {
    const [status] = await submit('collections', { ...fields, misbehave: 'forged_first' });
    expect(status).toBe(303);
    await sandbox.idle();
    expect(merchant.received.map(({ data }) => data.payload.transaction_amount)).toEqual([1, 500]);
    const text = await show();
    for (const part of [
      'COLLECTION COMPLETED',
      'forged amount',
      'duplicate 1',
      ': 200',
      'hmac-signature: t=',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('every misbehaviour that it offers is one that the sandbox knows', async () => {
    const [, select = ''] = /<select name="misbehave">(.*?)<\/select>/s.exec(await show()) ?? [];
    const names = [...select.matchAll(/value="([^"]*)"/g)].map(([, name]) => name ?? '');
    expect(names).toHaveLength(9);
    for (const misbehave of names) {
      expect((await submit('collections', { ...fields, ending: 'pending', misbehave }))[0]).toBe(303);
    }
    const kinds = listOf(await call(sandbox, 'GET', '/sandbox/transactions'), 'transactions').map(
      ({ misbehave }) => JSON.stringify(misbehave),
    );
    // "As set for the sandbox" and "Behave" are the same while nothing is set.
    expect(new Set(kinds).size).toBe(8);
  });

  it('starts a transfer and a payout, and moves the wallets', async () => {
    await submit('collections', { ...fields, amount: '100000' });
    expect((await submit('transfers', { currency: 'UGX', amount: '20000' }))[0]).toBe(303);
    const [status, text] = await submit('payouts', {
      ...fields,
      provider: 'example_bank UGX',
      amount: '5000',
      bank_code: 'EX001',
      ending: 'direct completed',
    });
    expect(status).toBe(303);
    expect(text).toContain('PAYOUT COMPLETED');
    expect(text).toMatch(/UGX MERCHANT_PAYOUT<\/td>\s*<td class="number" data-label="Available">15000</);
  });

  it('leaves a collection to the payment page, and decides a pending one', async () => {
    const [, text] = await submit('collections', { ...fields, ending: 'page', charge_customer: 'yes' });
    expect(text).toMatch(/href="\/sandbox\/pay\/SBX-\d+-\w{10}"/);
    const action = /action="\/dashboard\/(transactions\/\d+\/outcome)"/.exec(text)?.[1] ?? '';
    const [, after] = await submit(action, { outcome: 'completed' });
    expect(after).toContain('COLLECTION COMPLETED');
    expect((await submit(action, { outcome: 'completed' }))[0]).toBe(409);
  });

  it('says why it refused, and keeps working', async () => {
    const [status, text] = await submit('collections', { ...fields, account: '256700000001' });
    expect(status).toBe(422);
    expect(problemIn(text)).toBe(
      'Example Mobile Money serves account numbers that start with 25677 or 25678.',
    );
    expect((await submit('collections', { ...fields, amount: '' }))[0]).toBe(400);
    expect(problemIn((await submit('payouts', fields))[1])).toMatch(
      /^Example Mobile Money takes 1000 UGX or more/,
    );
  });

  it('sets the default misbehaviour, moves the clock, clears, releases and resets', async () => {
    await submit('defaults', { misbehave: 'late' });
    await submit('collections', { ...fields, provider: 'example_card_ugx UGX', amount: '10000' });
    const [wallet] =
      (await submit('clearing', { bucket: 'uncleared' }))[1].match(/UGX MERCHANT_COLLECTION.*?<\/tr>/s) ?? [];
    expect([...(wallet ?? '').matchAll(/number"[^>]*>(\d+)</g)].map(([, amount]) => amount)).toEqual([
      '8685',
      '0',
      '965',
      '9650',
    ]);
    expect(await show()).toContain('Late: after 10 seconds');
    expect(sandbox.deliveries()[0]?.state).toBe('scheduled');
    await submit('release');
    await sandbox.idle();
    expect(merchant.received).toHaveLength(1);
    expect((await submit('clock', { advance_seconds: '60' }))[1]).toContain('60 s ahead');
    expect((await submit('reset'))[1]).toContain('None yet.');
  });

  it('every retry rule that it offers is one that the sandbox knows', async () => {
    merchant.answer = (response) => {
      response.statusCode = 404;
      response.end();
    };
    expect(await show()).toContain('<dd>After any answer but 2xx</dd>');
    await submit('defaults', { retry: '5xx-and-429' });
    expect(await show()).toContain('<dd>After 5xx and 429 only</dd>');
    await submit('defaults', { misbehave: 'none' });
    expect(await show()).toContain('<dd>After 5xx and 429 only</dd>');
    const [, select = ''] = /<select name="retry">(.*?)<\/select>/s.exec(await show()) ?? [];
    const names = [...select.matchAll(/value="([^"]*)"/g)].map(([, name]) => name ?? '');
    expect(names).toEqual(['', 'none', 'not-2xx', '5xx-and-429', 'below-500']);
    for (const retry of names) expect((await submit('collections', { ...fields, retry }))[0]).toBe(303);
    await until(() => sandbox.deliveries().every(({ attempts }) => attempts.length > 0));
    expect(sandbox.deliveries().map(({ state }) => state)).toEqual([
      'given_up',
      'given_up',
      'scheduled',
      'given_up',
      'scheduled',
    ]);
    expect((await submit('defaults', { retry: 'never' }))[0]).toBe(400);
  });

  it('rules that no preset names are shown as they are', async () => {
    await sandbox.close();
    sandbox = createSandbox({ retry: { accepted: [204], repeated: ['5xx', 409] } });
    expect(await show()).toContain('<dd>After 5xx, 409; 204 counts as delivered</dd>');
  });

  it('sends a delivery again', async () => {
    sandbox.collect(collection);
    await sandbox.idle();
    const [delivery] = sandbox.deliveries();
    expect((await submit(`deliveries/${delivery?.id}/resend`))[0]).toBe(303);
    await sandbox.idle();
    expect(merchant.received).toHaveLength(2);
  });

  it('405 for another method', async () => {
    const response = await sandbox.fetch('http://127.0.0.1/', { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
