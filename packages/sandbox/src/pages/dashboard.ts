import { assetResponse, type Filled, html, note } from '@payment-service/pages';
import { type Context, Hono } from 'hono';
import { formFields, onlyMethods } from '../http/envelope.ts';
import { sendStatement } from '../http/sandbox-api.ts';
import type { Service } from '../service/service.ts';
import { type RefusalStatus, SandboxRefusal } from '../state/refusal.ts';
import { check } from './account/check.ts';
import { explainPage } from './account/explain.ts';
import { providers } from './account/providers.ts';
import { reset, settings } from './account/settings.ts';
import { start } from './account/start-transaction.ts';
import { currencyWallets, wallets } from './account/wallets.ts';
import { compose } from './compose/compose.ts';
import { framed, type Links, nothing, type Page, refusedForm, say, sentence } from './parts/page.ts';
import { compare } from './records/compare.ts';
import { deliveries } from './records/deliveries.ts';
import { delivery } from './records/delivery.ts';
import { failures } from './records/failures.ts';
import { overview } from './records/overview.ts';
import { request, requests } from './records/requests.ts';
import { transaction } from './records/transaction.ts';
import { transactions } from './records/transactions.ts';

/** Every page by its address, in the order of the navigation. */
export const pages: Readonly<Record<string, Page>> = {
  '/': overview,
  '/transactions': transactions,
  '/transactions/:id': transaction,
  '/deliveries': deliveries,
  '/deliveries/compare': compare,
  '/deliveries/failures': failures,
  '/deliveries/:id': delivery,
  '/requests': requests,
  '/requests/:id': request,
  '/compose/:id{[0-9]+}': compose,
  '/wallets': wallets,
  '/wallets/:currency': currencyWallets,
  '/providers': providers,
  '/check': check,
  '/explain': explainPage,
  '/start': start,
  '/settings': settings,
  '/settings/reset': reset,
};

/** What the pages offer or load, by its address. */
export const files: Readonly<Record<string, (c: Context, service: Service) => Response | Promise<Response>>> =
  {
    '/statement.csv': sendStatement,
    '/assets/:name': async (c) => (await assetResponse(c.req.param('name') ?? '')) ?? c.notFound(),
  };

/** The addresses and names of the navigation. */
export const sections: Links = Object.entries(pages).flatMap(([path, { section }]) =>
  section === undefined ? [] : [[path, section] as const],
);

/** A page inside the frame, below its section. */
function shown(
  c: Context,
  service: Service,
  path: string,
  refused?: Filled,
  status?: RefusalStatus,
): Promise<Response> {
  const section = `/${path.split('/')[1]}`;
  const content = pages[path]?.show(service, c, refused) ?? nothing(c);
  const above = sections.filter(([href]) => href === section && href !== path);
  return framed(c, service, {
    sections,
    section,
    crumbs: above,
    ...content,
    status: content.status ?? status,
  });
}

/** The dashboard, with an address for everything. It requires no keys, since it shows them. */
export function createDashboard(service: Service): Hono {
  const app = new Hono();
  for (const [path, page] of Object.entries(pages)) {
    app.get(path, (c) => shown(c, service, path));
    if (page.isAsked) app.post(path, (c) => answered(c, service, path));
    app.all(path, onlyMethods('GET', 'HEAD', ...(page.isAsked ? ['POST'] : [])));
    for (const [name, act] of Object.entries({ ...page.forms, ...page.buttons })) {
      app.post(`/dashboard/${name}`, async (c) => {
        const { at = '', ...fields } = await formFields(c);
        try {
          const done = await act(fields, service, c);
          const { said, to } = typeof done === 'string' ? { said: done, to: cameFrom(c, at) } : done;
          say(c, said);
          return c.redirect(to, 303);
        } catch (refusal) {
          if (!(refusal instanceof SandboxRefusal)) throw refusal;
          if (page.forms?.[name] === undefined) return refusedPage(c, service, refusal);
          return shown(c, service, path, refusedForm(at, fields, refusal), refusal.status);
        }
      });
    }
  }
  for (const [path, send] of Object.entries(files)) app.get(path, (c) => send(c, service));
  return app;
}

/** A page with the answer to its own form. */
async function answered(c: Context, service: Service, path: string): Promise<Response> {
  try {
    const { at = '', ...typed } = await formFields(c);
    return await shown(c, service, path, { form: at, typed });
  } catch (refusal) {
    if (!(refusal instanceof SandboxRefusal)) throw refusal;
    return refusedPage(c, service, refusal);
  }
}

/** The page from which a form was sent, and the position on it. Browsers send the Referer with our own forms. */
function cameFrom(c: Context, at: string): string {
  const { pathname, search, origin } = new URL(c.req.header('referer') ?? '/', c.req.url);
  const isOwnPage = origin === new URL(c.req.url).origin && !pathname.startsWith('/dashboard/');
  return (isOwnPage ? pathname + search : '/') + (/^[\w-]+$/.test(at) ? `#${at}` : '');
}

const refusedPage = (c: Context, service: Service, refusal: SandboxRefusal): Promise<Response> =>
  framed(c, service, {
    sections,
    status: refusal.status,
    title: 'That was refused',
    body: html`${note('bad', html`<span class="problem">${sentence(refusal)}</span>`)}
<p><a href="${cameFrom(c, '')}">Go back</a></p>`,
  });
