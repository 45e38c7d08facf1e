import type { Context } from 'hono';
import { html } from 'hono/html';
import type { RefusalStatus } from '../../service/refusal.ts';
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
    id: 'collection' | 'payout',
    amount: string,
    rest: (fields: ReturnType<typeof fieldsOf>) => Markup,
  ): Markup => {
    const fields = fieldsOf(id, refused);
    const names = [
      'provider',
      'merchant_reference',
      'amount',
      'account',
      'customer_name',
      'callback_url',
      'misbehave',
      'retry',
      'bank_code',
      'redirect_url',
      'ending',
    ];
    return html`${fields.problem(names)}
${fields.choice({ name: 'provider', label: 'Provider' }, choices(id.toUpperCase()))}
${fields.field({ name: 'amount', label: 'Amount', type: 'number', value: amount })}
${fields.field({ name: 'merchant_reference', label: 'Merchant reference', value: suggestion })}
${fields.field({ name: 'account', label: 'Account or mobile number', hint: 'Empty: a number that the provider serves. Never a real card number.' })}
${fields.field({ name: 'customer_name', label: 'Customer name', value: 'Sandbox Customer' })}
${rest(fields)}
${fields.field({ name: 'callback_url', label: 'Callback URL', type: 'url', value: callbackUrl ?? '', hint: callbackUrl === null ? 'Empty: no callback is sent.' : 'From Settings.' })}
${fields.choice({ name: 'misbehave', label: 'Callback' }, [['', 'As set for the sandbox'], ...misbehaviours])}
${fields.choice({ name: 'retry', label: 'Retries' }, [['', 'As set for the sandbox'], ...retryChoices])}`;
  };
  const transfer = fieldsOf('transfer', refused);
  return framed(c, dashboard, {
    title: 'Start a transaction',
    section: '/start',
    status: (refused?.refusal.status ?? 200) as 200 | RefusalStatus,
    body: html`<section class="card" aria-labelledby="collection-title"><h2 id="collection-title">Collection</h2>${form(
      'collection',
      'collections',
      {
        fields: transaction(
          'collection',
          '500',
          (
            fields,
          ) => html`${fields.choice({ name: 'ending', label: 'How it ends' }, [['page', 'The customer decides on the payment page'], ...endings])}
${fields.field({ name: 'redirect_url', label: 'Redirect URL', type: 'url', value: redirectUrl ?? '', hint: 'Where the customer goes back to.' })}
${fields.check({ name: 'charge_customer', label: 'The customer pays the charge' })}`,
        ),
        button: 'Collect',
        kind: 'main',
      },
    )}</section>
<section class="card" aria-labelledby="payout-title"><h2 id="payout-title">Payout</h2>${form(
      'payout',
      'payouts',
      {
        fields: transaction(
          'payout',
          '1000',
          (
            fields,
          ) => html`${fields.choice({ name: 'bank_code', label: 'Bank', hint: 'For providers that pay out to banks.' }, [['', 'The first active bank of the provider'], ...banks])}
${fields.choice({ name: 'ending', label: 'How it ends' }, endings)}`,
        ),
        button: 'Pay out',
      },
    )}</section>
<section class="card" aria-labelledby="transfer-title"><h2 id="transfer-title">Transfer to the payout wallet</h2>${form(
      'transfer',
      'transfers',
      {
        fields: html`${transfer.problem(['currency', 'amount'])}${transfer.choice(
          { name: 'currency', label: 'Currency' },
          currencies.map((code) => [code, code]),
        )}
${transfer.field({ name: 'amount', label: 'Amount', type: 'number', value: '1000' })}`,
        button: 'Transfer',
      },
    )}</section>`,
  });
}
