import type { Context } from 'hono';
import { html } from 'hono/html';
import { fieldsOf, form, type Refused } from '../parts/form.ts';
import { type Dashboard, framed } from '../parts/frame.ts';
import type { Markup } from '../parts/layout.ts';
import { presets, retryChoices } from './presets.ts';

type Choices = readonly (readonly [value: string, text: string])[];

const misbehaviours = presets.map(({ name, label }) => [name, label] as const);
const endings: Choices = [
  ['direct completed', 'Complete at once'],
  ['direct failed', 'Fail at once'],
  ['pending', 'Leave it pending'],
];

/** The forms that start a collection, a payout or a transfer. */
export function startPage(c: Context, dashboard: Dashboard, refused?: Refused): Promise<Response> {
  const { service } = dashboard;
  const providers = service.providers();
  const { callbackUrl, redirectUrl } = service.settings();
  const serving = (type: string) =>
    providers.filter(({ option }) => option.transaction_type.toUpperCase() === type);
  const choices = (type: string): Choices =>
    serving(type).map(({ option }) => {
      const {
        provider_code,
        provider_name,
        transaction_currency: currency,
        option_prefixes,
        is_active,
      } = option;
      const prefixes = option_prefixes.length > 0 ? `, accounts ${option_prefixes.join(' ')}…` : '';
      return [
        `${provider_code} ${currency}`,
        `${provider_name} · ${currency}${prefixes}${is_active ? '' : ' (not active)'}`,
      ];
    });
  const banks: Choices = serving('PAYOUT').flatMap(({ option, banks: own = [] }) =>
    own.map(
      (bank) =>
        [
          bank.bank_code,
          `${bank.bank_name} · ${option.provider_name}${bank.is_active ? '' : ' (not active)'}`,
        ] as const,
    ),
  );
  const currencies = [...new Set(providers.map(({ option }) => option.transaction_currency))];
  // The same until something is started, so that an update of the page does not change it under the reader's eyes.
  const suggestion = `ORD-${service.store.get('counter', 'id')?.next ?? 1001}`;

  const transaction = (
    fields: ReturnType<typeof fieldsOf>,
    type: string,
    amount: string,
    own: Markup,
  ): Markup => html`${fields.choice({ name: 'provider', label: 'Provider' }, choices(type))}
${fields.field({ name: 'amount', label: 'Amount', type: 'number', value: amount })}
${fields.field({ name: 'merchant_reference', label: 'Merchant reference', value: suggestion })}
${fields.field({ name: 'account', label: 'Account or mobile number', hint: 'Empty: a number that the provider serves. Never a real card number.' })}
${fields.field({ name: 'customer_name', label: 'Customer name', value: 'Sandbox Customer' })}
${own}
${fields.field({ name: 'callback_url', label: 'Callback URL', type: 'url', value: callbackUrl ?? '', hint: callbackUrl === null ? 'Empty: no callback is sent.' : 'From Settings.' })}
${fields.choice({ name: 'misbehave', label: 'Callback' }, [['', 'As set for the sandbox'], ...misbehaviours])}
${fields.choice({ name: 'retry', label: 'Retries' }, [['', 'As set for the sandbox'], ...retryChoices])}`;
  const collection = fieldsOf('collection', refused);
  const payout = fieldsOf('payout', refused);
  const transfer = fieldsOf('transfer', refused);
  return framed(c, dashboard, {
    title: 'Start a transaction',
    section: '/start',
    status: refused?.refusal.status ?? 200,
    body: html`<section class="card" aria-labelledby="collection-title"><h2 id="collection-title">Collection</h2>${form(
      'collection',
      'collections',
      {
        fields: html`${transaction(
          collection,
          'COLLECTION',
          '500',
          html`${collection.choice({ name: 'ending', label: 'How it ends' }, [['page', 'The customer decides on the payment page'], ...endings])}
${collection.field({ name: 'redirect_url', label: 'Redirect URL', type: 'url', value: redirectUrl ?? '', hint: 'Where the customer goes back to.' })}`,
        )}${collection.check({ name: 'charge_customer', label: 'The customer pays the charge' })}${collection.problem()}`,
        button: 'Collect',
        kind: 'main',
      },
    )}</section>
<section class="card" aria-labelledby="payout-title"><h2 id="payout-title">Payout</h2>${form(
      'payout',
      'payouts',
      {
        fields: html`${transaction(
          payout,
          'PAYOUT',
          '1000',
          html`${payout.choice({ name: 'bank_code', label: 'Bank', hint: 'For providers that pay out to banks.' }, [['', 'The first active bank of the provider'], ...banks])}
${payout.choice({ name: 'ending', label: 'How it ends' }, endings)}`,
        )}${payout.problem()}`,
        button: 'Pay out',
      },
    )}</section>
<section class="card" aria-labelledby="transfer-title"><h2 id="transfer-title">Transfer to the payout wallet</h2>${form(
      'transfer',
      'transfers',
      {
        fields: html`${transfer.choice(
          { name: 'currency', label: 'Currency' },
          currencies.map((code) => [code, code]),
        )}
${transfer.field({ name: 'amount', label: 'Amount', type: 'number', value: '1000' })}${transfer.problem()}`,
        button: 'Transfer',
      },
    )}</section>`,
  });
}
