import { differenceOf, html, type Markup, note, plainLines } from '@payment-service/pages';
import type { DeliveryRecord } from '../../state/records.ts';
import { outcomeTitle } from '../parts/cells.ts';
import { deliveryState } from '../parts/delivery-states.ts';
import type { Page } from '../parts/page.ts';

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

const TITLE = 'Compare two deliveries';

/** Two deliveries side by side: `?of=…&of=…`. */
export const compare: Page = {
  show(service, c) {
    const ids = [...new Set(c.req.queries('of') ?? [])].sort((one, other) => Number(one) - Number(other));
    const [before, after, ...more] = ids.map((id) => service.store.get('delivery', id));
    if (before === undefined || after === undefined || more.length > 0) {
      const body = note(
        'wait',
        'Choose exactly two deliveries.',
        html`<a href="/deliveries">Back to the deliveries</a>`,
      );
      return { title: TITLE, status: 400, body };
    }
    const words = [`only ${before.id}`, `only ${after.id}`] as const;
    const card = (id: string, title: string, of: (delivery: DeliveryRecord) => string[]): Markup =>
      html`<section class="card" id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${differenceOf(of(before), of(after), words)}</section>`;
    const fact = (one: DeliveryRecord): Markup => {
      const last = one.attempts.at(-1);
      return html`<dt><a href="/deliveries/${one.id}">Delivery ${one.id}</a></dt><dd>${deliveryState(service, one)} ${last === undefined ? '' : outcomeTitle(service.outcomeOf(one, last))}</dd>`;
    };
    return {
      title: TITLE,
      body: html`<section class="card" aria-label="The two deliveries"><dl class="facts">${fact(before)}${fact(after)}</dl></section>
<div class="split">${card('request', 'Request', requestLines)}${card('answer', 'Answer', answerLines)}</div>`,
    };
  },
};
