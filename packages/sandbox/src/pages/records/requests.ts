import {
  age,
  badge,
  bodyText,
  type Column,
  column,
  copyable,
  copyButton,
  count,
  html,
  type Markup,
  note,
  time,
} from '@payment-service/pages';
import * as z from 'zod';
import { readJson } from '../../state/json-values.ts';
import type { RequestRecord, TransactionRecord } from '../../state/records.ts';
import type { Reader } from '../../state/store.ts';
import { milliseconds, statusTone } from '../parts/cells.ts';
import { matches, readQuery, searchable } from '../parts/list.ts';
import { nothing, type Page } from '../parts/page.ts';
import { asCurl, bodyStart, head } from '../parts/wire.ts';

const started = z.object({ data: z.object({ transaction: z.object({ id: z.number() }) }) });
const asked = z.object({ merchant_reference: z.string() });

/** The subject of a call: the transaction that it started or names, or otherwise the reference that it sent. */
function subjectOf(
  store: Reader,
  { path, sent, body }: RequestRecord,
): { transaction?: TransactionRecord | undefined; reference: string } {
  const [, kind, named = ''] = /\/(transactions|deliveries)\/(\d+)/.exec(path) ?? [];
  const id = kind === 'deliveries' ? store.get('delivery', named)?.transactionId : named;
  const begun = started.safeParse(readJson(body)).data?.data.transaction.id;
  const transaction = store.get('transaction', begun ?? id ?? '');
  const reference =
    asked.safeParse(readJson(sent)).data?.merchant_reference ??
    new URL(path, 'http://sandbox').searchParams.get('merchant_reference');
  return { transaction, reference: transaction?.merchantReference ?? reference ?? '' };
}

/** The reference of a call, as a link to its transaction if there is one. */
function subject(store: Reader, request: RequestRecord): Markup | string {
  const { transaction, reference } = subjectOf(store, request);
  return transaction === undefined
    ? reference
    : html`<a href="/transactions/${transaction.id}">${reference}</a>`;
}

const columns = (store: Reader, now: number): Column<RequestRecord>[] => [
  column('State', ['title'], ({ status }) =>
    badge(statusTone(status), status < 400 ? 'Answered' : 'Refused'),
  ),
  column(
    'Request',
    ['title', 'wide'],
    ({ id, method, path, refusal }) =>
      html`<a class="mono" href="/requests/${id}">${method} ${path}</a>${refusal === null ? '' : html` <span class="quiet small">${refusal}</span>`}`,
  ),
  column('Reference', [], (one) => subject(store, one)),
  column('Status', ['number'], ({ status }) => String(status)),
  column('Time taken', ['number', 'minor'], ({ ms }) => milliseconds(ms)),
  column('Age', ['title', 'number'], ({ at }) => age(at, now)),
];

/** The names of the keys in .env. */
const variables = { 'public-key': 'PUBLIC_KEY', 'secret-key': 'SECRET_KEY' };

/** The merchant's calls to the API, newest first. */
export const requests: Page = {
  section: 'Requests',
  show(service, c) {
    const { store, clock } = service;
    const query = readQuery(c);
    const searched = store.list('request').filter((one) => {
      const { id, method, path, status, sent } = one;
      return (
        query.q === '' ||
        matches(query, id, `${method} ${path}`, status, sent, subjectOf(store, one).reference)
      );
    });
    const refused = searched.filter(({ status }) => status >= 400);
    const answered = searched.filter(({ status }) => status < 400);
    return {
      title: 'Requests',
      says: `${count(searched.length)} requests, ${count(refused.length)} refused.`,
      body: html`<p class="quiet">Your program's calls to <code>/data</code> and <code>/sandbox</code>. The newest 500 are kept.</p>
${searchable(
  query,
  columns(store, clock.now()),
  [
    ['', 'All', searched],
    ['refused', 'Refused', refused],
    ['answered', 'Answered', answered],
  ],
  {
    name: 'requests',
    searched: 'path, status or reference',
    one: 'request',
    empty: html`No request yet. Call the API from your program, with the address and keys under <strong>Keys</strong> above.`,
    example: {
      Request: 'POST /sandbox/collections',
      State: badge('bad', 'Refused'),
      Status: '422',
      Reason: 'amount: must be above zero',
    },
  },
)}`,
    };
  },
};

/** One call: request and response as they were on the wire, with the keys masked. */
export const request: Page = {
  show(service, c) {
    const { store } = service;
    const request = store.get('request', c.req.param('id') ?? '');
    if (request === undefined) return nothing(c, 'request');
    const { id, method, path, headers, sent, status, response_headers, refusal, ms, at } = request;
    const about = subject(store, request);
    const url = new URL(path, c.req.url).href;
    const curl = asCurl({ method, url, headers, body: sent }, variables);
    return {
      title: `Request ${id}`,
      beside: html`${badge(statusTone(status), html`HTTP ${status}`)}<div class="actions">${copyButton('curl-text', 'Copy as curl', 'copy-curl')}</div>`,
      body: html`${refusal === null ? '' : note('bad', refusal)}
<p class="quiet">${time(at)}, ${milliseconds(ms)}. Keys show their last four characters.${about === '' ? '' : html` Transaction: ${about}.`}</p>
<div class="split"><section class="card" id="sent" aria-labelledby="sent-title"><h2 id="sent-title">Request</h2>${head(`${method} ${path} HTTP/1.1`, headers)}${bodyText(sent)}</section>
<section class="card" id="answer" aria-labelledby="answer-title"><h2 id="answer-title">Answer</h2>${head(`HTTP/1.1 ${status}`, response_headers)}${bodyStart(request)}</section></div>
${copyable('curl', 'As curl, with the keys from .env', curl)}`,
    };
  },
};
