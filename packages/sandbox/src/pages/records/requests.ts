import type { Context } from 'hono';
import { html } from 'hono/html';
import type { RequestRecord } from '../../state/records.ts';
import { type Dashboard, framed, notFound } from '../parts/frame.ts';
import { bodyText } from '../parts/json.ts';
import { type Column, matches, readQuery, searchable } from '../parts/list.ts';
import { age, count, milliseconds, time } from '../parts/quantities.ts';
import { badge, note, statusTone } from '../parts/state.ts';
import { bodyStart, head } from '../parts/wire.ts';

const columns = (now: number): Column<RequestRecord>[] => [
  {
    label: 'State',
    isTitle: true,
    cell: ({ status }) => badge(statusTone(status), status < 400 ? 'Answered' : 'Refused'),
  },
  {
    label: 'Request',
    isTitle: true,
    isWide: true,
    cell: ({ id, method, path, refusal }) =>
      html`<a class="mono" href="/requests/${id}">${method} ${path}</a>${refusal === null ? '' : html`<span class="quiet small">${refusal}</span>`}`,
  },
  { label: 'Status', isNumber: true, cell: ({ status }) => String(status) },
  { label: 'Time taken', isNumber: true, cell: ({ ms }) => milliseconds(ms) },
  { label: 'Age', isNumber: true, cell: ({ at }) => age(at, now) },
];

/** The merchant's own calls to the API, the newest first. */
export function requestsPage(c: Context, dashboard: Dashboard): Promise<Response> {
  const { store, now } = dashboard.service;
  const query = readQuery(c);
  const searched = store
    .list('request')
    .filter(({ id, method, path, status, sent }) => matches(query, id, `${method} ${path}`, status, sent));
  const refused = searched.filter(({ status }) => status >= 400);
  const answered = searched.filter(({ status }) => status < 400);
  return framed(c, dashboard, {
    title: 'Requests',
    section: '/requests',
    says: `${count(searched.length)} requests, ${count(refused.length)} refused.`,
    body: html`<p class="quiet">Your program's calls to <code>/data</code> and <code>/sandbox</code>. The newest 500 are kept.</p>
${searchable(
  query,
  columns(now()),
  [
    ['', 'All', searched],
    ['refused', 'Refused', refused],
    ['answered', 'Answered', answered],
  ],
  { name: 'requests', searched: 'path, status or reference', empty: 'No request yet.' },
)}`,
  });
}

/** One call: request and answer as they were on the wire, keys masked. */
export function requestPage(c: Context, dashboard: Dashboard): Promise<Response> {
  const request = dashboard.service.store.get('request', c.req.param('id') ?? '');
  if (request === undefined) return notFound(c, dashboard, 'request');
  const { id, method, path, headers, sent, status, refusal, ms, at } = request;
  return framed(c, dashboard, {
    title: `Request ${id}`,
    section: '/requests',
    crumbs: [['/requests', 'Requests']],
    beside: badge(statusTone(status), html`HTTP ${status}`),
    body: html`${refusal === null ? '' : note('bad', refusal)}
<p class="quiet">${time(at)}, ${milliseconds(ms)}. Keys show their last four characters.</p>
<div class="split"><section class="card" id="sent" aria-labelledby="sent-title"><h2 id="sent-title">Request</h2>${head(`${method} ${path} HTTP/1.1`, headers)}${bodyText(sent)}</section>
<section class="card" id="answer" aria-labelledby="answer-title"><h2 id="answer-title">Answer</h2>${bodyStart(request)}</section></div>`,
  });
}
