import { differenceOf, type Markup, note, plainLines } from '@payment-service/pages';
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { DeliveryRecord } from '../../state/records.ts';
import type { Dashboard, Page } from '../parts/dashboard.ts';
import { framed } from '../parts/frame.ts';
import { deliveryState, outcomeTitle } from '../parts/outcome.ts';

/** Two deliveries beside each other: `?of=…&of=…`. */
function comparePage(c: Context, dashboard: Dashboard): Promise<Response> {
  const { service } = dashboard;
  const ids = [...new Set(c.req.queries('of') ?? [])].sort((one, other) => Number(one) - Number(other));
  const [before, after, ...more] = ids.map((id) => service.store.get('delivery', id));
  const page = { title: 'Compare two deliveries', section: '/deliveries' } as const;
  const crumbs = [['/deliveries', 'Deliveries']] as const;
  if (before === undefined || after === undefined || more.length > 0) {
    const body = note(
      'wait',
      'Choose exactly two deliveries.',
      html`<a href="/deliveries">Back to the deliveries</a>`,
    );
    return framed(c, dashboard, { ...page, crumbs, status: 400, body });
  }
  const words = [`only ${before.id}`, `only ${after.id}`] as const;
  const card = (id: string, title: string, of: (delivery: DeliveryRecord) => string[]): Markup =>
    html`<section class="card" id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${differenceOf(of(before), of(after), words)}</section>`;
  const fact = (one: DeliveryRecord): Markup => {
    const last = one.attempts.at(-1);
    return html`<dt><a href="/deliveries/${one.id}">Delivery ${one.id}</a></dt><dd>${deliveryState(dashboard, one)} ${last === undefined ? '' : outcomeTitle(service.outcomeOf(one, last))}</dd>`;
  };
  return framed(c, dashboard, {
    ...page,
    crumbs,
    body: html`<section class="card" aria-label="The two deliveries"><dl class="facts">${fact(before)}${fact(after)}</dl></section>
<div class="split">${card('request', 'Request', requestLines)}${card('answer', 'Answer', answerLines)}</div>`,
  });
}

const lines = (headers: readonly (readonly [string, string])[], body: string): string[] => [
  ...headers.map(([name, value]) => `${name}: ${value}`),
  '',
  ...plainLines(body),
];

const requestLines = ({ url, body, signature, attempts }: DeliveryRecord): string[] => [
  `POST ${url}`,
  ...lines(attempts.at(-1)?.sent?.headers ?? [['hmac-signature', signature]], body),
];

function answerLines({ attempts }: DeliveryRecord): string[] {
  const { status = null, error = null, response = null } = attempts.at(-1) ?? {};
  return [
    error ?? (status === null ? 'Not sent yet' : `HTTP ${status}`),
    ...(response === null ? [] : lines(response.headers, response.body)),
  ];
}

export const compare: Page = { show: comparePage };
