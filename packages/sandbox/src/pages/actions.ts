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
  readSettings,
  readTransfer,
} from '../service/requests.ts';
import { misbehaviourOf } from './account/presets.ts';
import { settingsPage } from './account/settings.ts';
import { startPage } from './account/start.ts';
import { type Refused, sentence } from './parts/form.ts';
import { type Dashboard, framed } from './parts/frame.ts';
import { note } from './parts/state.ts';

type Fields = Readonly<Record<string, string>>;
/** A form that is shown again with what was typed when it is refused. */
type FormPage = (c: Context, dashboard: Dashboard, refused?: Refused) => Promise<Response>;

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

  /** Does one thing. What `act` answers is where the reader goes on; by default where they were. */
  const action = (
    path: string,
    act: (fields: Fields, c: Context) => unknown,
    shown?: { form: string; page: FormPage },
  ): void => {
    app.post(`/dashboard/${path}`, async (c) => {
      const { at, ...fields } = await formFields(c);
      try {
        const next = act(fields, c);
        return c.redirect(typeof next === 'string' ? next : cameFrom(c, at), 303);
      } catch (refusal) {
        if (!(refusal instanceof SandboxRefusal)) throw refusal;
        if (shown === undefined) return refusedPage(c, dashboard, refusal);
        return shown.page(c, dashboard, { form: shown.form, typed: fields, refusal });
      }
    });
  };

  /** What collection and payout have in common. "provider" holds code and currency, "ending" mode and outcome. */
  const transactionOf = (type: string, { provider = '', ending = 'direct', ...fields }: Fields): object => {
    const { amount, misbehave, retry, charge_customer, ...rest } = fields;
    const [provider_code, currency] = provider.split(' ');
    const [mode, outcome] = ending.split(' ');
    const chosen = service
      .providers()
      .find(
        ({ option }) =>
          option.provider_code === provider_code &&
          option.transaction_currency === currency &&
          option.transaction_type.toUpperCase() === type,
      );
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
    { form: 'collection', page: startPage },
  );
  action('payouts', (fields) => started(service.payout(readPayout(transactionOf('PAYOUT', fields)))), {
    form: 'payout',
    page: startPage,
  });
  action(
    'transfers',
    ({ currency, amount }) => {
      service.transfer(readTransfer({ currency, amount: Number(amount) }));
      return '/wallets';
    },
    { form: 'transfer', page: startPage },
  );
  action('transactions/:id{[0-9]+}/outcome', ({ outcome }, c) => {
    service.decide(Number(c.req.param('id')), readOutcome({ outcome }).outcome);
  });
  action(
    'deliveries/:id{[0-9]+}/resend',
    (_, c) => `/deliveries/${service.resend(Number(c.req.param('id'))).id}`,
  );
  action('clearing', ({ bucket }) => {
    const { buckets = [] } = readClearing({ buckets: [bucket] });
    service.clear({ buckets });
  });
  action(
    'clock',
    ({ advance_seconds }) => {
      service.advance(readClock({ advance_seconds: Number(advance_seconds) }).advance_seconds);
    },
    { form: 'clock', page: settingsPage },
  );
  action('clock/reset', () => {
    service.change({ clockOffset: 0 });
  });
  action(
    'addresses',
    ({ callback_url = null, redirect_url = null }) => {
      readSettings({ callback_url, redirect_url });
      service.change({ callbackUrl: callback_url, redirectUrl: redirect_url });
    },
    { form: 'addresses', page: settingsPage },
  );
  action(
    'defaults',
    ({ misbehave, retry }) => {
      if (misbehave !== undefined) service.change({ misbehave: misbehaviourOf(misbehave) });
      if (retry !== undefined) {
        service.change({ retry: { ...service.settings().retry, ...readRetryRules({ preset: retry }) } });
      }
    },
    { form: 'defaults', page: settingsPage },
  );
  action('release', () => {
    service.release();
  });
  action('reset', () => {
    service.reset();
    return '/';
  });
  return app;
}
