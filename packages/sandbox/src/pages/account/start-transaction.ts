import type { PaymentProvider, PayoutBank } from '@payment-service/core/client';
import { type Filled, html, type Markup } from '@payment-service/pages';
import type { Context } from 'hono';
import type { Service } from '../../service/service.ts';
import { findProvider, servesAccount } from '../../service/simulated-providers.ts';
import { amountText } from '../../state/money.ts';
import type { SandboxProvider } from '../../state/records.ts';
import { type FormValues, group } from '../compose/changes.ts';
import { askAgain, form, type Page } from '../parts/page.ts';
import { misbehaviourOf, presets, retryChoices } from '../parts/presets.ts';

type Choices = readonly (readonly [value: string, text: string])[];

const endings: Choices = [
  ['direct completed', 'Complete immediately'],
  ['direct failed', 'Fail immediately'],
  ['pending', 'Leave it pending'],
];

/** Frequent transactions: a click fills in the form. */
const starts: readonly (readonly [label: string, typed: FormValues])[] = [
  ['Completes', { ending: 'direct completed' }],
  ['Fails', { ending: 'direct failed' }],
  ['Customer decides', { ending: 'page' }],
  ['Callback three times', { ending: 'direct completed', misbehave: 'duplicate' }],
  ['Forged amount first', { ending: 'direct completed', misbehave: 'forged_first' }],
  ['Bad signature', { ending: 'direct completed', misbehave: 'bad_signature' }],
];

/** An account number that the provider serves. */
const accountOf = (provider: SandboxProvider | undefined): string =>
  `${provider?.option.option_prefixes[0] ?? '25677'}2000001`;

const nameOf = ({ provider_code, transaction_currency }: PaymentProvider): string =>
  `${provider_code} ${transaction_currency}`;
const bankChoice = ({ bank_code, bank_name, is_active }: PayoutBank) =>
  [bank_code, `${bank_name}${is_active ? '' : ' · off'}`] as const;
const labelOf = ({ provider_name, transaction_currency, is_active }: PaymentProvider): string =>
  `${provider_name} · ${transaction_currency}${is_active ? '' : ' · off'}`;

/** A form, from its address `?at=payout&provider=…`, to which the choice of a provider leads. */
function filledBy(c: Context): Filled | undefined {
  const { at, ...typed } = c.req.query();
  return at === undefined ? undefined : { form: at, typed };
}

/** What collections and payouts have in common. "provider" contains code and currency, "ending" mode and outcome. */
function requestOf(type: 'COLLECTION' | 'PAYOUT', fields: FormValues, service: Service): object {
  const { provider = '', ending = 'direct', amount, misbehave, retry, charge_customer, ...rest } = fields;
  const [provider_code = '', currency] = provider.split(' ');
  const [mode, outcome] = ending.split(' ');
  const chosen = findProvider(service.store.list('provider'), provider_code, type);
  const bank = chosen?.banks?.find(({ is_active }) => is_active)?.bank_code;
  return {
    account: accountOf(chosen),
    ...(type === 'PAYOUT' && bank !== undefined ? { bank_code: bank } : {}),
    ...rest,
    provider_code,
    currency,
    amount: Number(amount),
    mode,
    outcome,
    misbehave: misbehave === undefined ? undefined : misbehaviourOf(misbehave),
    retry: retry === undefined ? undefined : { preset: retry },
  };
}

/** Each form's title, proposed amount and button. */
const forms = { collection: ['Collection', 500, 'Collect'], payout: ['Payout', 1000, 'Pay out'] } as const;

/** The forms that start a collection or a payout. Account number, amount and bank follow the chosen provider. */
export const start: Page = {
  section: 'Start',
  show(service, c, refused) {
    const { callback_url, redirect_url } = service.settings();
    const asked = refused ?? filledBy(c);
    // Unchanged until something is started, so that an update of the page does not change it while it is read.
    const number = service.store.get('counter', 'id')?.next ?? 1001;

    const part = (id: 'collection' | 'payout'): Markup | string => {
      const [title, minAmount, button] = forms[id];
      const isPayout = id === 'payout';
      const offered = service.store
        .list('provider')
        .filter(({ option }) => option.transaction_type.toUpperCase() === id.toUpperCase());
      const mine = asked?.form === id ? asked : undefined;
      const chosen =
        offered.find(({ option }) => nameOf(option) === mine?.typed['provider']) ??
        offered.find(({ option }) => option.is_active) ??
        offered[0];
      if (chosen === undefined) return '';
      const { option, banks } = chosen;
      const { account, ...typed } = mine?.typed ?? {};
      // An account number of the previous provider is useless. A refused one is shown with the reason.
      const isKept = account !== undefined && (refused !== undefined || servesAccount(option, account));
      const filled = mine && { ...mine, typed: isKept ? { ...typed, account } : typed };
      const { min_amount: min, max_amount: max, option_prefixes: prefixes } = option;
      const names = offered.map((one) => [nameOf(one.option), labelOf(one.option)] as const);
      const content = form(id, `${id}s`, filled, {
        fields: (
          own,
        ) => html`${own.choice({ name: 'provider', label: 'Provider', value: nameOf(option), isLeading: true }, names)}
${own.field({ name: 'account', label: 'Account or mobile number', value: accountOf(chosen), hint: prefixes.length > 0 ? `Starts with ${prefixes.join(' or ')}.` : 'Any number, but never a real card number.' })}
${own.field({ name: 'amount', label: `Amount in ${option.transaction_currency}`, type: 'number', value: String(Math.max(min, minAmount)), hint: `${amountText(min, option.transaction_currency)} to ${amountText(max, option.transaction_currency)}.` })}
${own.field({ name: 'merchant_reference', label: 'Merchant reference', value: `${isPayout ? 'PAYOUT' : 'ORD'}-${number}` })}
${own.field({ name: 'customer_name', label: 'Customer name', value: 'Sandbox Customer' })}
${isPayout && banks !== undefined && own.choice({ name: 'bank_code', label: 'Bank' }, banks.map(bankChoice))}${own.choice({ name: 'ending', label: 'How it ends' }, isPayout ? endings : [['page', 'The customer decides on the payment page'], ...endings])}
${group(
  `${id}-advanced`,
  'Advanced',
  mine !== undefined && (refused !== undefined || mine.typed['misbehave'] !== undefined),
  html`${
    !isPayout &&
    html`${own.field({ name: 'redirect_url', label: 'Redirect URL', type: 'url', value: redirect_url ?? '', hint: 'Where the customer goes back to.' })}
${own.check({ name: 'charge_customer', label: 'The customer pays the charge' })}`
  }
${own.field({ name: 'callback_url', label: 'Callback URL', type: 'url', value: callback_url ?? '', hint: callback_url === null ? 'Empty: no callback is sent.' : 'From Settings.' })}
${own.choice({ name: 'misbehave', label: 'Callback' }, [['', 'As set for the sandbox'], ...presets])}
${own.choice({ name: 'retry', label: 'Retries' }, [['', 'As set for the sandbox'], ...retryChoices])}`,
)}`,
        button,
        kind: isPayout ? '' : 'main',
        after: html`<noscript>${askAgain(`/start#${id}`, 'Show what this provider needs')}</noscript>`,
      });
      return html`<section class="card" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${content}</section>`;
    };

    return {
      title: 'Start a transaction',
      body: html`<nav aria-label="Presets"><ul class="chips">${starts.map(
        ([label, typed]) =>
          html`<li><a class="button" href="/start?${new URLSearchParams({ at: 'collection', ...typed }).toString()}">${label}</a></li>`,
      )}</ul></nav>
<div class="split single">${part('collection')}
${part('payout')}</div>`,
    };
  },
  forms: {
    collections: (fields, service) => {
      const charge_customer = fields['charge_customer'] !== undefined;
      const request = { ...requestOf('COLLECTION', fields, service), charge_customer };
      const { id } = service.collect(request);
      return { said: 'The collection was started.', to: `/transactions/${id}` };
    },
    payouts: (fields, service) => {
      const { id } = service.payout(requestOf('PAYOUT', fields, service));
      return { said: 'The payout was started.', to: `/transactions/${id}` };
    },
  },
};
