import { counted, note } from '@payment-service/pages';
import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import { formFields } from '../http/body.ts';
import { findProvider } from '../service/providers.ts';
import {
  readCheck,
  readClearing,
  readClock,
  readCollection,
  readMisbehaviour,
  readOutcome,
  readPayout,
  readProviderChange,
  readRetryRules,
  readSettings,
  readTransfer,
} from '../service/requests.ts';
import { SandboxRefusal } from '../state/refusal.ts';
import { checkPage } from './account/check.ts';
import { providerNamed, providersPage } from './account/providers.ts';
import { settingsPage } from './account/settings.ts';
import { startPage } from './account/start.ts';
import { walletsPage } from './account/wallets.ts';
import { changesIn } from './compose/changes.ts';
import { composePage, compositionIn } from './compose/compose.ts';
import type { Dashboard } from './parts/dashboard.ts';
import { type Refused, sentence } from './parts/form.ts';
import { framed } from './parts/frame.ts';
import { troubled } from './parts/outcome.ts';
import { misbehaviourOf } from './parts/presets.ts';
import { say } from './parts/said.ts';

type Fields = Readonly<Record<string, string>>;
/** A form that is shown again with what was typed when it is refused. */
type FormPage = (c: Context, dashboard: Dashboard, refused?: Refused) => Promise<Response>;

const SENDING = 'Sending. What comes back will be here.';

/** The page that a form was sent from, and the place on it. Browsers send the Referer with our own forms. */
function cameFrom(c: Context, at: string | undefined): string {
  const { pathname, search, origin } = new URL(c.req.header('referer') ?? '/', c.req.url);
  const isOwnPage = origin === new URL(c.req.url).origin && !pathname.startsWith('/dashboard/');
  const place = at !== undefined && /^[\w-]+$/.test(at) ? `#${at}` : '';
  return (isOwnPage ? pathname + search : '/') + place;
}

const refusedPage = (c: Context, dashboard: Dashboard, refusal: SandboxRefusal): Promise<Response> =>
  framed(c, dashboard, {
    status: refusal.status,
    title: 'That was refused',
    section: '',
    body: html`${note('bad', html`<span class="problem">${sentence(refusal)}</span>`)}
<p><a href="${cameFrom(c, undefined)}">Go back</a></p>`,
  });

/** What the forms of the dashboard send to /dashboard/…. It needs no keys: the dashboard shows them. */
export function createActions(dashboard: Dashboard): Hono {
  const { service } = dashboard;
  const app = new Hono();

  /**
   * Does one thing. What `act` returns is where the reader goes on; by default where they were. `said` confirms it there.
   * `shown` is the form that is shown again when it is refused.
   */
  const action = <T>(
    path: string,
    act: (fields: Fields, c: Context) => T,
    said: string | ((done: Awaited<T>) => string),
    shown?: { form: string | ((fields: Fields) => string); page: FormPage },
  ): void => {
    app.post(`/dashboard/${path}`, async (c) => {
      const { at, ...fields } = await formFields(c);
      try {
        const next = await act(fields, c);
        say(c, typeof said === 'string' ? said : said(next));
        return c.redirect(typeof next === 'string' ? next : cameFrom(c, at), 303);
      } catch (refusal) {
        if (!(refusal instanceof SandboxRefusal)) throw refusal;
        if (shown === undefined) return refusedPage(c, dashboard, refusal);
        const form = typeof shown.form === 'string' ? shown.form : shown.form(fields);
        return shown.page(c, dashboard, { form, typed: fields, refusal });
      }
    });
  };

  /** What collection and payout have in common. "provider" holds code and currency, "ending" mode and outcome. */
  const transactionOf = (type: string, { provider = '', ending = 'direct', ...fields }: Fields): object => {
    const { amount, misbehave, retry, charge_customer, ...rest } = fields;
    const [provider_code, currency] = provider.split(' ');
    const [mode, outcome] = ending.split(' ');
    const chosen = findProvider(service.providers(), provider_code ?? '', type);
    const bank = chosen?.banks?.find(({ is_active }) => is_active)?.bank_code;
    return {
      account: `${chosen?.option.option_prefixes[0] ?? '25677'}2000001`,
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
  };
  const started = ({ id }: { id: number }): string => `/transactions/${id}`;
  action(
    'collections',
    (fields) =>
      started(
        service.collect(
          readCollection({
            ...transactionOf('COLLECTION', fields),
            charge_customer: fields['charge_customer'] !== undefined,
          }),
        ),
      ),
    'The collection was started.',
    { form: 'collection', page: startPage },
  );
  action(
    'payouts',
    (fields) => started(service.payout(readPayout(transactionOf('PAYOUT', fields)))),
    'The payout was started.',
    { form: 'payout', page: startPage },
  );
  action(
    'transfers',
    ({ currency, amount }) => {
      service.transfer(readTransfer({ currency, amount: Number(amount) }));
    },
    'Transferred.',
    { form: ({ currency }) => `transfer-${currency}`, page: walletsPage },
  );
  action(
    'deposits',
    ({ currency, amount }) => service.deposit(readTransfer({ currency, amount: Number(amount) })),
    'Deposited.',
    { form: ({ currency }) => `deposit-${currency}`, page: walletsPage },
  );
  const switched = ({ on, off }: Fields) => ({ key: on ?? off ?? '', is_active: on !== undefined });
  const whichWay = ({ is_active }: { is_active: boolean }): string =>
    is_active ? 'Switched on.' : 'Switched off.';
  action(
    'providers',
    (fields) => {
      const { key, is_active } = switched(fields);
      return service.changeProvider({ ...providerNamed(key), is_active }).option;
    },
    whichWay,
  );
  action(
    'banks',
    (fields) => {
      const { key, is_active } = switched(fields);
      const [provider_code = '', bank_code = ''] = key.split(' ');
      return service.changeBank({ provider_code, bank_code, is_active });
    },
    whichWay,
  );
  action(
    'limits',
    ({ provider = '', min_amount, max_amount, max_daily_amount }) => {
      const limits = Object.entries({ min_amount, max_amount, max_daily_amount });
      const numbers = Object.fromEntries(limits.map(([name, typed]) => [name, Number(typed)]));
      service.changeProvider(readProviderChange({ ...providerNamed(provider), ...numbers }));
    },
    'Saved.',
    { form: ({ provider }) => `limits-${provider}`, page: providersPage },
  );
  action(
    'api',
    ({ api_latency_ms = 0, api_error }) => {
      const error = api_error === undefined ? null : Number(api_error);
      service.change(readSettings({ api_latency_ms: Number(api_latency_ms), api_error: error }));
    },
    'Saved.',
    { form: 'api', page: providersPage },
  );
  action(
    'check',
    ({ callback_url }) => service.check(readCheck({ callback_url }).callback_url).then(() => '/check#report'),
    'Tested: what the endpoint answered is below.',
    { form: 'check', page: checkPage },
  );
  action(
    'compose/:id{[0-9]+}',
    (fields, c) => {
      const id = Number(c.req.param('id'));
      const [first] = service.compose(id, compositionIn(dashboard, id, fields));
      return first === undefined ? undefined : `/deliveries/${first.id}`;
    },
    SENDING,
    { form: 'compose', page: composePage },
  );
  const sending = (found: number): string =>
    found === 0 ? 'There was nothing to send.' : `Sending ${counted(found, 'delivery', 'deliveries')}.`;
  action(
    'deliveries/resend-failed',
    ({ since }) => service.resendFailed(since === 'all' ? 0 : service.now() - Number(since) * 1000).length,
    sending,
  );
  action(
    'transactions/:id{[0-9]+}/outcome',
    ({ outcome }, c) => service.decide(Number(c.req.param('id')), readOutcome({ outcome }).outcome),
    ({ status }) => `The transaction is ${status.toLowerCase()}.`,
  );
  action(
    'deliveries/:id{[0-9]+}/resend',
    (_, c) => `/deliveries/${service.resend(Number(c.req.param('id'))).id}`,
    SENDING,
  );
  action(
    'clearing',
    ({ bucket = '' }) => {
      const [name, currency] = bucket.split(' ');
      return service.clear(readClearing({ buckets: [name], currency }));
    },
    (found) => `${counted(found, 'part')} became available.`,
  );
  action(
    'clock',
    ({ advance_seconds }) => {
      service.advance(readClock({ advance_seconds: Number(advance_seconds) }).advance_seconds);
    },
    'The clock was moved.',
    { form: 'clock', page: settingsPage },
  );
  action('clock/reset', () => service.change({ clockOffset: 0 }), 'The clock was set to now.');
  action(
    'addresses',
    ({ callback_url = null, redirect_url = null, order_url = null, inbox_url = null }) => {
      service.change(readSettings({ callback_url, redirect_url, order_url, inbox_url }));
    },
    'Saved.',
    { form: 'addresses', page: settingsPage },
  );
  action(
    'defaults',
    ({ misbehave, retry, max_attempts, backoff_ms, resign }) => {
      const rules = readRetryRules({
        ...(retry === undefined ? {} : { preset: retry }),
        ...(max_attempts === undefined ? {} : { max_attempts: Number(max_attempts) }),
        ...(backoff_ms === undefined ? {} : { backoff_ms: Number(backoff_ms) }),
        ...(resign === undefined ? {} : { resign: resign === 'anew' }),
      });
      service.change({
        retry: { ...service.settings().retry, ...rules },
        ...(misbehave === undefined ? {} : { misbehave: misbehaviourOf(misbehave) }),
      });
    },
    'Saved.',
    { form: 'defaults', page: settingsPage },
  );
  action(
    'misbehaviour',
    (fields) => service.change({ misbehave: readMisbehaviour(changesIn(fields)) }),
    'Saved.',
    { form: 'misbehaviour', page: settingsPage },
  );
  action('release', () => service.release(), sending);
  action('deliveries/:id{[0-9]+}/release', (_, c) => service.release(Number(c.req.param('id'))), sending);
  action(
    'seen',
    ({ transaction }) => {
      const isMeant = (id: number): boolean => transaction === undefined || String(id) === transaction;
      const dismissed = troubled(dashboard).flatMap((group) => (isMeant(group.id) ? group.deliveries : []));
      service.store.write((unit) => {
        for (const { id } of dismissed) unit.put('seen', id, { id });
      });
    },
    'Marked as seen.',
  );
  action(
    'reset',
    () => {
      service.reset();
      return '/';
    },
    'The sandbox was reset.',
  );
  return app;
}
