import { html } from 'hono/html';
import type { SandboxProvider } from '../service/providers.ts';
import type { Service } from '../service/service.ts';
import type { Markup } from './layout.ts';
import { presets, retryChoices } from './presets.ts';

const field = (
  label: string,
  name: string,
  value: string,
  extra: { type?: string; hint?: string } = {},
): Markup =>
  html`<label>${label}<input name="${name}" type="${extra.type ?? 'text'}" value="${value}" placeholder="${extra.hint ?? ''}"${extra.type === 'number' ? html` step="any" min="0"` : ''}></label>`;

const choice = (
  label: string,
  name: string,
  options: readonly (readonly [value: string, text: string])[],
): Markup =>
  html`<label>${label}<select name="${name}">${options.map(
    ([value, text]) => html`<option value="${value}">${text}</option>`,
  )}</select></label>`;

const misbehaviours = presets.map(({ name, label }) => [name, label] as const);

const providerChoice = (providers: readonly SandboxProvider[], type: string): Markup =>
  choice(
    'Provider',
    'provider',
    providers
      .filter(({ option }) => option.transaction_type.toUpperCase() === type)
      .map(({ option }) => {
        const { provider_code: code, provider_name: name, transaction_currency: currency } = option;
        const prefixes =
          option.option_prefixes.length > 0 ? `, accounts ${option.option_prefixes.join(' ')}…` : '';
        return [`${code} ${currency}`, `${name} · ${currency}${prefixes}`] as const;
      }),
  );

const form = (action: string, title: string, fields: readonly Markup[], button: string): Markup =>
  html`<details class="card"><summary>${title}</summary>
<form method="post" action="/dashboard/${action}">${fields}<div class="actions"><button>${button}</button></div></form></details>`;

/** The forms that start something. `suggestion` is a merchant reference that is still free. */
export function forms(service: Service, suggestion: string): Markup {
  const { providers, callbackUrl = '' } = service.rules;
  const currencies = [...new Set(providers.map(({ option }) => option.transaction_currency))];
  const currency = choice(
    'Currency',
    'currency',
    currencies.map((code) => [code, code] as const),
  );
  const common = (amount: string): Markup[] => [
    field('Merchant reference', 'merchant_reference', suggestion),
    field('Amount', 'amount', amount, { type: 'number' }),
    field('Account or mobile number', 'account', '256772000001'),
    field('Customer name', 'customer_name', 'Sandbox Customer'),
    field('Callback address', 'callback_url', callbackUrl, { hint: 'http://127.0.0.1:3000/callbacks' }),
    choice('Callback', 'misbehave', [['', 'As set for the sandbox'], ...misbehaviours]),
    choice('Retries', 'retry', [['', 'As set for the sandbox'], ...retryChoices]),
  ];
  const endings = [
    ['direct completed', 'Complete at once'],
    ['direct failed', 'Fail at once'],
    ['pending', 'Leave it pending'],
  ] as const;
  return html`<div class="grid">
${form(
  'collections',
  'Start a collection',
  [
    providerChoice(providers, 'COLLECTION'),
    ...common('500'),
    choice('How it ends', 'ending', [['page', 'The customer decides on the payment page'], ...endings]),
    field('Redirect address', 'redirect_url', '', { hint: 'http://127.0.0.1:3000/return' }),
    html`<label><input type="checkbox" name="charge_customer" value="yes"> The customer pays the charge</label>`,
  ],
  'Collect',
)}
${form(
  'payouts',
  'Start a payout',
  [
    providerChoice(providers, 'PAYOUT'),
    ...common('1000'),
    field('Bank code (banks only)', 'bank_code', '', { hint: 'EX001' }),
    choice('How it ends', 'ending', endings),
  ],
  'Pay out',
)}
${form('transfers', 'Transfer to the payout wallet', [currency, field('Amount', 'amount', '1000', { type: 'number' })], 'Transfer')}
${form('defaults', 'When a request does not say', [choice('Callbacks', 'misbehave', [['', 'No change'], ...misbehaviours]), choice('Retries', 'retry', [['', 'No change'], ...retryChoices])], 'Set')}
${form('clock', 'Move the clock ahead', [field('Seconds', 'advance_seconds', '86400', { type: 'number' })], 'Move')}
<details class="card"><summary>Release and reset</summary>
<form method="post" action="/dashboard/clearing"><p>Uncleared money becomes available.</p><button name="bucket" value="uncleared">Clear</button></form>
<form method="post" action="/dashboard/clearing"><p>So does the rolling reserve.</p><button name="bucket" value="reserve">Release the reserve</button></form>
<form method="post" action="/dashboard/release"><p>Late, held and repeated callbacks go out now.</p><button>Send now</button></form>
<form method="post" action="/dashboard/reset"><p>Wallets, transactions and deliveries are emptied.</p><button class="other">Reset</button></form>
</details>
</div>`;
}
