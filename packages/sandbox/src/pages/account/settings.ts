import { counted, html, note, span, time } from '@payment-service/pages';
import { read } from '../../service/request-schemas.ts';
import { defaultRetry } from '../../state/retries.ts';
import { changeFields, changesIn, fieldsFrom } from '../compose/changes.ts';
import { button, form, type Page } from '../parts/page.ts';
import { misbehaviourLabel, misbehaviourOf, presets, retryChoices, retryLabel } from '../parts/presets.ts';

/** The defaults for transactions, the clock, the keys, and the reset. Each control shows its current value. */
export const settings: Page = {
  section: 'Settings',
  show(service, _, refused) {
    const settings = service.settings();
    const { misbehave, retry, clockOffset } = settings;
    const rules = { ...defaultRetry, ...retry };
    const rule = retryLabel(retry);
    const [chosen = ''] = retryChoices.find(([, label]) => label === rule) ?? [];
    const set = misbehaviourLabel(misbehave);
    const addresses = form('addresses', 'addresses', refused, {
      fields: ({ field }) => {
        const address = (name: keyof typeof settings & `${string}_url`, label: string, example: string) =>
          field({ name, label, type: 'url', value: settings[name] ?? '', hint: `Such as ${example}` });
        return html`${address('callback_url', 'Callback URL', 'http://127.0.0.1:3000/payments/callbacks. Empty: no callbacks.')}
${address('redirect_url', 'Redirect URL', 'http://127.0.0.1:3000/payments/return. Empty: no redirect.')}
${address('order_url', 'Your order page', 'http://127.0.0.1:3000/orders/{merchant_reference}. Linked from a transaction.')}
${address('inbox_url', 'Your inbox page for an order', 'http://127.0.0.1:3000/owner/inbox/payment?reference={merchant_reference}.')}`;
      },
      button: 'Save the addresses',
      kind: 'main',
    });
    const typed = refused?.form === 'misbehaviour' ? refused.typed : undefined;
    const hidden = misbehave.body === undefined ? (['body'] as const) : [];
    const misbehaviour = form('misbehaviour', 'misbehaviour', refused, {
      fields: (own) => changeFields(own, typed ?? fieldsFrom(misbehave), hidden),
      button: 'Misbehave like this',
    });
    const clock = form('clock', 'clock', refused, {
      fields: ({ field }) =>
        html`${field({ name: 'advance_seconds', label: 'Move it ahead, in seconds', type: 'number', value: '86400', hint: '86400 is a day. Due credits clear, and due callbacks are sent.' })}`,
      button: 'Move',
    });
    return {
      title: 'Settings',
      body: html`<section class="card single" aria-labelledby="addresses-title"><h2 id="addresses-title">Where callbacks and customers go</h2>
<p class="quiet">Defaults for new transactions. They are kept across restarts.</p>${addresses}</section>
<section class="card" aria-labelledby="defaults-title"><h2 id="defaults-title">How callbacks behave</h2>
<p class="quiet">Defaults for new transactions. Press a button to switch callbacks to:</p>
<div class="actions" role="group" aria-label="Callbacks">${presets.map(([name, label]) => button('defaults', label, { at: 'defaults-title', name: 'misbehave', value: name, kind: label === set ? 'main' : '' }))}</div>
${form('defaults', 'defaults', refused, {
  fields: ({ field, choice }) => html`${choice({ name: 'retry', label: 'Retries', value: chosen }, [
    ...(chosen === '' ? [['', rule] as const] : []),
    ...retryChoices,
  ])}${field({ name: 'max_attempts', label: 'Maximum attempts', type: 'number', value: String(rules.max_attempts), hint: 'Including the first one.' })}
${field({ name: 'backoff_ms', label: 'First wait, in milliseconds', type: 'number', value: String(rules.backoff_ms), hint: `Each further wait is ${rules.backoff_factor} times as long.` })}
${choice({ name: 'resign', label: 't of a retry', value: rules.resign ? 'anew' : 'first' }, [
  ['first', 'Same t, same signature'],
  ['anew', 'New t, new signature'],
])}`,
  button: 'Save the retries',
})}
<details id="combine"${presets.every(([, label]) => label !== set) || typed !== undefined ? html` open` : ''}><summary>Combine misbehaviours</summary>${misbehaviour}</details></section>
<section class="card" aria-labelledby="clock-title"><h2 id="clock-title">Clock</h2>
<p>${time(service.clock.now())}${clockOffset > 0 ? html`, <strong>${span(clockOffset)} ahead</strong>` : ''}</p>${clock}</section>
<section class="card" id="reset" aria-labelledby="reset-title"><h2 id="reset-title">Reset</h2>
<p class="quiet">Empties the wallets and deletes transactions, deliveries and requests. Keys and addresses stay.</p>
<div class="actions"><a class="button danger" href="/settings/reset">Reset…</a></div></section>`,
    };
  },
  forms: {
    addresses: (
      { callback_url = null, redirect_url = null, order_url = null, inbox_url = null },
      service,
    ) => {
      service.change(read('settings', { callback_url, redirect_url, order_url, inbox_url }));
      return 'Saved.';
    },
    defaults: ({ misbehave, retry, max_attempts, backoff_ms, resign }, service) => {
      const rules = read('retry', {
        ...(retry === undefined ? {} : { preset: retry }),
        ...(max_attempts === undefined ? {} : { max_attempts: Number(max_attempts) }),
        ...(backoff_ms === undefined ? {} : { backoff_ms: Number(backoff_ms) }),
        ...(resign === undefined ? {} : { resign: resign === 'anew' }),
      });
      service.change({
        retry: { ...service.settings().retry, ...rules },
        ...(misbehave === undefined ? {} : { misbehave: misbehaviourOf(misbehave) }),
      });
      return 'Saved.';
    },
    misbehaviour: (fields, service) => {
      service.change({ misbehave: read('misbehaviour', changesIn(fields)) });
      return 'Saved.';
    },
    clock: ({ advance_seconds }, service) => {
      service.advance({ advance_seconds: Number(advance_seconds) });
      return 'The clock was moved.';
    },
  },
  buttons: {
    'clock/reset': (_, service) => {
      service.change({ clockOffset: 0 });
      return 'The clock was set to now.';
    },
  },
};

/** Asks for confirmation before everything is deleted, without a script. */
export const reset: Page = {
  show(service) {
    const { store } = service;
    const [transactions, deliveries] = [store.list('transaction').length, store.list('delivery').length];
    return {
      title: 'Reset the sandbox?',
      body: html`${note('bad', `${counted(transactions, 'transaction')} and ${counted(deliveries, 'delivery', 'deliveries')} will be deleted.`, 'Wallets are emptied and settings return to their defaults. Keys and addresses stay.')}
<div class="actions">${button('reset', 'Reset', { at: 'main', kind: 'danger' })}<a class="button" href="/settings">Keep everything</a></div>`,
    };
  },
  buttons: {
    reset: (_, service) => {
      service.reset();
      return { said: 'The sandbox was reset.', to: '/' };
    },
  },
};
