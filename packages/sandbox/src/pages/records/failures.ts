import type { Outcome } from '@payment-service/core/explain';
import {
  age,
  type Column,
  column,
  count,
  counted,
  html,
  list,
  type Markup,
  time,
  withQuery,
} from '@payment-service/pages';
import type { Service } from '../../service/service.ts';
import type { DeliveryRecord } from '../../state/records.ts';
import { outcomeNote, outcomeTitle, statusOf } from '../parts/cells.ts';
import { deliveryState, failedDeliveries } from '../parts/delivery-states.ts';
import { addressOf, pageOf, type Query, readQuery } from '../parts/list.ts';
import { button, type Page } from '../parts/page.ts';
import { linkTo, referenceOf } from './deliveries.ts';

/** A failed delivery, and why it failed. */
interface Failed {
  readonly id: number;
  readonly one: DeliveryRecord;
  readonly outcome: Outcome;
  readonly at: number;
}

type Filter = Partial<Pick<Query, 'cause' | 'endpoint' | 'since'>>;

/** What failed, oldest first. */
const failuresOf = (service: Service, { cause = '', endpoint = '', since = '' }: Filter): Failed[] =>
  failedDeliveries(service)
    .flatMap((one): Failed[] => {
      const last = one.attempts.at(-1);
      return last === undefined
        ? []
        : [{ id: one.id, one, outcome: service.outcomeOf(one, last), at: last.at }];
    })
    .filter(
      ({ one, outcome, at }) =>
        (cause === '' || cause === outcome.title) &&
        (endpoint === '' || endpoint === one.url) &&
        at >= Number(since),
    );

/** Failed deliveries with the same cause at the same endpoint. */
interface Group {
  readonly id: number;
  readonly filter: Filter;
  readonly outcome: Outcome;
  readonly failed: readonly Failed[];
}

/** The largest group first. */
function groupsOf(failed: readonly Failed[], since: string): Group[] {
  const groups = Map.groupBy(failed, ({ one, outcome }) => JSON.stringify([outcome.title, one.url]));
  return [...groups.values()]
    .flatMap((members): Group[] => {
      const [first] = members;
      if (first === undefined) return [];
      const { one, outcome } = first;
      return [
        { id: one.id, outcome, failed: members, filter: { cause: outcome.title, endpoint: one.url, since } },
      ];
    })
    .sort((a, b) => b.failed.length - a.failed.length || a.id - b.id);
}

const causeColumns = (service: Service, query: Query, isUnsent: IsUnsent): Column<Group>[] => [
  column(
    'Cause',
    ['wide'],
    ({ outcome }) => html`${outcomeTitle(outcome)}<div class="quiet small">${outcome.fix}</div>`,
  ),
  column('Endpoint', ['title'], ({ filter }) => html`<code>${filter.endpoint}</code>`),
  column(
    'Failed',
    ['number'],
    ({ filter, failed }) =>
      html`<a href="${addressOf({ ...query, ...filter, page: 1 })}">${count(failed.length)}<span class="hidden-text"> failed at ${filter.endpoint}: ${filter.cause}</span></a>`,
  ),
  column('Newest', ['number', 'minor'], ({ failed }) =>
    age(
      failed.reduce((newest, { at }) => Math.max(newest, at), 0),
      service.clock.now(),
    ),
  ),
  column('Send again', ['title'], ({ filter, failed }) => resendButton(filter, failed.filter(isUnsent))),
];

/** Whether it has not been sent again since it failed. */
type IsUnsent = (failed: Failed) => boolean;

/** Sends what failed and has not been sent again. Its form contains the filter, so what fails meanwhile is sent too. */
function resendButton(filter: Filter, { length }: readonly Failed[]): Markup {
  if (length === 0) return html`<span class="quiet">Sent again</span>`;
  const { cause = '', endpoint = '', since = '' } = filter;
  const of = cause === '' ? '' : html`<span class="hidden-text"> to ${endpoint}: ${cause}</span>`;
  return button('deliveries/failures', html`Send ${cause === '' ? 'all ' : ''}${count(length)} again${of}`, {
    at: 'main',
    name: 'of',
    value: withQuery('', { cause, endpoint, since }),
  });
}

const failedColumns = (service: Service): Column<Failed>[] => [
  column('State', ['title'], ({ one }) => deliveryState(service, one)),
  column('Delivery', ['title'], ({ one }) => linkTo(one)),
  column('Reference', ['title', 'wide', 'reference'], ({ one }) => referenceOf(service, one.transactionId)),
  column('Outcome', ['title', 'wide', 'sentence'], ({ outcome }) => outcomeTitle(outcome)),
  column('Endpoint', ['minor'], ({ one }) => html`<code>${one.url}</code>`),
  column('Status', ['number', 'minor'], ({ one }) => statusOf(one.attempts.at(-1))),
  column('Last sent', ['title', 'number'], ({ at }) => age(at, service.clock.now())),
];

/** Why deliveries failed: by cause and endpoint, and then each of them. */
export const failures: Page = {
  show(service, c) {
    const query = readQuery(c);
    const { cause, endpoint, since } = query;
    const failed = failuresOf(service, query);
    const groups = groupsOf(failed, since);
    const unsent = new Set(service.resendable(failed.map(({ one }) => one)));
    const isUnsent: IsUnsent = ({ one }) => unsent.has(one);
    const { rows, pager } = pageOf(query, failed.toReversed());
    const title = `${counted(failed.length, 'delivery', 'deliveries')} failed`;
    const isNarrowed = [cause, endpoint, since].some((part) => part !== '');
    const all = isNarrowed
      ? html`<a href="${query.path}">All ${count(failedDeliveries(service).length)} that failed</a>`
      : '';
    const [group, ...others] = groups;
    if (group === undefined) {
      const none = isNarrowed
        ? 'No delivery matches this search.'
        : 'No delivery failed. Failures appear here, by cause and endpoint.';
      return {
        title,
        says: title,
        body: html`<p class="quiet">${none} ${all || html`<a href="/deliveries">All deliveries</a>`}</p>`,
      };
    }
    return {
      title,
      says: title,
      beside: html`<div class="actions">${resendButton(others.length === 0 ? group.filter : { since }, failed.filter(isUnsent))}</div>`,
      body: html`${isNarrowed ? html`<p>${since === '' ? '' : html`Last sent since ${time(Number(since))}. `}${all}</p>` : ''}
${
  others.length > 0
    ? html`<section class="stack" aria-labelledby="causes-title"><h2 id="causes-title">By cause and endpoint</h2>
${list('causes', causeColumns(service, query, isUnsent), groups)}</section>`
    : html`${outcomeNote({ ...group.outcome, detail: `At ${group.filter.endpoint}.` })}`
}
<section class="stack" aria-labelledby="failures-title"><h2 id="failures-title">Each delivery</h2>
${list('failures', failedColumns(service), rows)}${pager}</section>`,
    };
  },
  buttons: {
    'deliveries/failures': ({ of }, service) => {
      const { cause = '', endpoint = '', since = '' } = Object.fromEntries(new URLSearchParams(of));
      const failed = failuresOf(service, { cause, endpoint, since });
      const { length } = service.resendEach(failed.map(({ one }) => one));
      return length === 0
        ? 'Nothing was sent: each delivery has already been sent again.'
        : `Sending ${counted(length, 'delivery', 'deliveries')} again.`;
    },
  },
};
