import type { PaymentProvider, PayoutBank } from '@payment-service/core/client';
import { badge, counted, type Filled, html, type Markup } from '@payment-service/pages';
import { read } from '../../service/request-schemas.ts';
import { amountText } from '../../state/money.ts';
import type { SandboxProvider } from '../../state/records.ts';
import { button, form, type Page } from '../parts/page.ts';

/** A provider as the value of a form field: its three names, of which the first may also contain the separator. */
const providerKey = (option: PaymentProvider): string =>
  `${option.provider_code}-${option.transaction_currency}-${option.transaction_type.toLowerCase()}`;

function providerNamed(key: string): object {
  const [, provider_code = '', transaction_currency = '', transaction_type = ''] =
    /^(.*)-([^-]*)-([^-]*)$/.exec(key) ?? [];
  return { provider_code, transaction_currency, transaction_type };
}

const LIMITS = [
  ['min_amount', 'Minimum amount'],
  ['max_amount', 'Maximum amount'],
  ['max_daily_amount', 'Maximum per day (UTC)'],
] as const;

const switched = (on: string | undefined): string => (on === undefined ? 'Switched off.' : 'Switched on.');

const activity = (isActive: boolean): Markup =>
  isActive ? badge('good', 'Active') : badge('neutral', 'Off');

const switchOf = (isActive: boolean, name: string): Markup =>
  html`Switch ${isActive ? 'off' : 'on'}<span class="hidden-text"> ${name}</span>`;

function providerCard(
  { option, banks = [], chargeBasisPoints }: SandboxProvider,
  refused: Filled | undefined,
): Markup {
  const { transaction_currency: currency, min_amount, max_amount, max_daily_amount, is_active } = option;
  const key = providerKey(option);
  const type = `${option.transaction_type.toLowerCase()}s`;
  const id = `provider-${key}`;
  const limits = `limits-${key}`;
  return html`<article class="card" id="${id}" aria-labelledby="${id}-title"><div class="head"><h3 id="${id}-title">${option.provider_name} <span class="quiet">${type}</span></h3>${activity(is_active)}
<div class="actions">${button('providers', switchOf(is_active, `${option.provider_name} ${currency} ${type}`), { at: id, name: is_active ? 'off' : 'on', value: key })}</div></div>
<details id="${limits}-part"${refused?.form === limits ? html` open` : ''}><summary>${amountText(min_amount, currency)} to ${amountText(max_amount, currency)}, ${amountText(max_daily_amount, currency)} a day</summary><div class="stack">
<dl class="facts"><dt>Code</dt><dd><code>${option.provider_code}</code></dd>
<dt>Method</dt><dd>${option.transaction_method_name}</dd>
${option.option_prefixes.length === 0 ? '' : html`<dt>Accounts</dt><dd>${option.option_prefixes.map((prefix) => `${prefix}…`).join(', ')}</dd>`}
${chargeBasisPoints === 0 ? '' : html`<dt>Charge</dt><dd>${chargeBasisPoints / 100} %, simulated</dd>`}</dl>
${banks.length === 0 ? '' : html`<ul class="rows">${banks.map((bank) => bankRow(option.provider_code, bank, id))}</ul>`}
${form(limits, 'limits', refused, {
  hidden: { provider: key },
  fields: ({ field }) =>
    html`${LIMITS.map(([name, label]) => field({ name, label, type: 'number', value: String(option[name]) }))}`,
  button: html`Save the limits<span class="hidden-text"> of ${option.provider_name} ${currency} ${type}</span>`,
})}</div></details></article>`;
}

const bankRow = (
  provider: string,
  { bank_code: code, bank_name: name, is_active }: PayoutBank,
  at: string,
): Markup =>
  html`<li class="head" id="${at}-${code}"><span>${name} <code>${code}</code></span>${activity(is_active)}
<div class="actions">${button('banks', switchOf(is_active, `${name} ${provider}`), { at, name: is_active ? 'off' : 'on', value: `${provider} ${code}` })}</div></li>`;

/** The payment options and their banks. Changes are effective immediately, in /data/… too. */
export const providers: Page = {
  section: 'Providers',
  show(service, _, refused) {
    const providers = service.store.list('provider');
    const currencies = [...new Set(providers.map(({ option }) => option.transaction_currency))];
    const settings = service.settings();
    const api = form('api', 'api', refused, {
      fields: (
        own,
      ) => html`${own.field({ name: 'api_latency_ms', label: 'Wait, in milliseconds', type: 'number', value: String(settings.api_latency_ms), hint: 'Before each answer under /data.' })}
${own.choice({ name: 'api_error', label: 'Error', value: String(settings.api_error ?? '') }, [
  ['', 'None'],
  ...(['429', '500', '503'] as const).map((status) => [status, `Every call gets HTTP ${status}`] as const),
])}`,
      button: 'Save how it answers',
    });
    const off = providers.filter(({ option }) => !option.is_active).length;
    return {
      title: 'Providers',
      says: `${counted(providers.length, 'provider')}, ${off} switched off.`,
      body: html`<p class="quiet">Changes apply immediately, in <code>/data/payment-providers</code> and <code>/data/payout-bank-codes</code> too, and are kept.</p>
<section class="card" aria-labelledby="api-title"><h2 id="api-title">How the API answers</h2>${api}</section>
${currencies.map(
  (currency) =>
    html`<section class="stack" aria-labelledby="${`currency-${currency}`}"><h2 id="${`currency-${currency}`}">${currency}</h2><div class="split">${providers
      .filter(({ option }) => option.transaction_currency === currency)
      .map((provider) => providerCard(provider, refused))}</div></section>`,
)}`,
    };
  },
  forms: {
    limits: ({ provider = '', ...limits }, service) => {
      const numbers = Object.fromEntries(LIMITS.map(([name]) => [name, Number(limits[name])]));
      service.changeProvider({ ...providerNamed(provider), ...numbers });
      return 'Saved.';
    },
    api: ({ api_latency_ms = 0, api_error }, service) => {
      const error = api_error === undefined ? null : Number(api_error);
      service.change(read('settings', { api_latency_ms: Number(api_latency_ms), api_error: error }));
      return 'Saved.';
    },
  },
  buttons: {
    providers: ({ on, off = '' }, service) => {
      service.changeProvider({ ...providerNamed(on ?? off), is_active: on !== undefined });
      return switched(on);
    },
    banks: ({ on, off = '' }, service) => {
      const [provider_code = '', bank_code = ''] = (on ?? off).split(' ');
      service.changeBank({ provider_code, bank_code, is_active: on !== undefined });
      return switched(on);
    },
  },
};
