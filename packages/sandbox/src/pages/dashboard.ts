import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import { formFields } from '../http/body.ts';
import { SandboxRefusal } from '../service/refusal.ts';
import {
  readClearing,
  readClock,
  readCollection,
  readOutcome,
  readPayout,
  readRetryRules,
  readTransfer,
} from '../service/requests.ts';
import type { Service } from '../service/service.ts';
import { randomSeed, type SandboxAccount } from '../state/account.ts';
import { forms } from './forms.ts';
import { page } from './layout.ts';
import { misbehaviourOf, presets, retryLabel } from './presets.ts';
import { deliveryList, transactionList, transferTable, walletTable } from './tables.ts';

const MOST_SHOWN = 30;
const newest = <T>(list: readonly T[]): T[] => list.slice(-MOST_SHOWN).reverse();

/** What collection and payout have in common. "provider" holds code and currency, "ending" mode and outcome. */
function transactionOf(fields: Record<string, string>): object {
  const { provider = '', ending = 'direct', amount, misbehave, retry, charge_customer, ...rest } = fields;
  const [provider_code, currency] = provider.split(' ');
  const [mode, outcome] = ending.split(' ');
  return {
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

/** The dashboard at / and what its forms send to /dashboard/…. It needs no keys: it shows them. */
export function createDashboard(service: Service, account: SandboxAccount): Hono {
  const app = new Hono();

  app.get('/', (c) => show(c, service, account));

  /** Every form does one thing and comes back to the dashboard, with the reason when it was refused. */
  const action = (path: string, act: (fields: Record<string, string>, c: Context) => unknown): void => {
    app.post(`/dashboard/${path}`, async (c) => {
      const fields = await formFields(c);
      try {
        act(fields, c);
      } catch (error) {
        if (error instanceof SandboxRefusal) return show(c, service, account, error);
        throw error;
      }
      return c.redirect('/', 303);
    });
  };
  action('collections', ({ charge_customer, ...fields }) =>
    service.collect(
      readCollection({ ...transactionOf(fields), charge_customer: charge_customer !== undefined }),
    ),
  );
  action('payouts', (fields) => service.payout(readPayout(transactionOf(fields))));
  action('transfers', ({ currency, amount }) =>
    service.transfer(readTransfer({ currency, amount: Number(amount) })),
  );
  action('transactions/:id{[0-9]+}/outcome', (fields, c) =>
    service.decide(Number(c.req.param('id')), readOutcome(fields).outcome),
  );
  action('deliveries/:id{[0-9]+}/resend', (_, c) => service.resend(Number(c.req.param('id'))));
  action('clearing', ({ bucket }) => {
    const { buckets = [] } = readClearing({ buckets: [bucket] });
    service.clear({ buckets });
  });
  action('clock', ({ advance_seconds }) => {
    const seconds = readClock({ advance_seconds: Number(advance_seconds) }).advance_seconds;
    service.advance(seconds);
  });
  action('defaults', ({ misbehave, retry }) => {
    if (misbehave !== undefined) service.change({ misbehave: misbehaviourOf(misbehave) });
    if (retry !== undefined) {
      service.change({ retry: { ...service.settings().retry, ...readRetryRules({ preset: retry }) } });
    }
  });
  action('release', () => service.release());
  action('reset', () => service.reset());
  return app;
}

function show(
  c: Context,
  service: Service,
  account: SandboxAccount,
  problem?: SandboxRefusal,
): Promise<Response> {
  const { store } = service;
  const { misbehave, retry, clockOffset } = service.settings();
  const isSet = Object.keys(misbehave).length > 0;
  const preset = presets.find((one) => JSON.stringify(one.misbehave) === JSON.stringify(misbehave));
  return page(c, {
    status: problem?.status ?? 200,
    title: 'Payment service sandbox',
    body: html`<h1>Payment service sandbox</h1>
<p class="quiet">Simulated, not part of the service. Only GET /data/… is the contract.</p>
${problem === undefined ? '' : html`<p class="problem" role="alert">${problem.message}</p>`}
<div class="card"><dl>
<dt>Address</dt><dd><code>${new URL(c.req.url).origin}</code></dd>
<dt>Public key</dt><dd><code>${account.publicKey}</code></dd>
<dt>Secret key</dt><dd><code>${account.secretKey}</code></dd>
<dt>Signing key</dt><dd><code>${account.signingKey}</code></dd>
<dt>Clock</dt><dd>${new Date(service.now()).toISOString()}${clockOffset > 0 ? `, ${clockOffset / 1000} s ahead` : ''}</dd>
<dt>Callbacks</dt><dd>${isSet ? (preset?.label ?? JSON.stringify(misbehave)) : 'behave, unless a request says otherwise'}</dd>
<dt>Retries</dt><dd>${retryLabel(retry)}</dd>
</dl><p><a href="/">Refresh</a></p></div>
<h2>Wallets</h2>${walletTable(service.wallets())}
${forms(service, `ORD-${randomSeed().slice(0, 6).toUpperCase()}`)}
<div class="grid"><section><h2>Transactions</h2>${transactionList(newest(store.list('transaction')), service.redirectOf)}</section>
<section><h2>Deliveries</h2>${deliveryList(newest(store.list('delivery')))}</section></div>
<h2>Transfers</h2>${transferTable(newest(store.list('transfer')))}`,
  });
}
