import {
  badge,
  bodyText,
  copyable,
  copyButton,
  count,
  counted,
  difference,
  html,
  type Markup,
  note,
  time,
} from '@payment-service/pages';
import { callbackData } from '../../deliveries/callback-data.ts';
import type { Service } from '../../service/service.ts';
import type { DeliveryAttempt, DeliveryRecord } from '../../state/records.ts';
import { milliseconds, outcomeNote, statusTone } from '../parts/cells.ts';
import { deliveryState, troubled } from '../parts/delivery-states.ts';
import { button, idIn, nothing, type Page } from '../parts/page.ts';
import { asCurl, asFixture, asTest, bodyStart, head, signatureParts } from '../parts/wire.ts';
import { dismissButton, planOf, SENDING, sending } from './deliveries.ts';

/** The callback, with each value as a link to its control. */
const editableBody = ({ id, body }: DeliveryRecord): Markup =>
  bodyText(body, {
    signed: true,
    value: (path, shown) =>
      html`<a href="/compose/${id}?edit=${encodeURIComponent(path)}" title="Edit">${shown}<span class="hidden-text"> of ${path}</span></a>`,
  });

/** How this delivery differs from the one that it was made from, or from the genuine callback. */
function changesPart(service: Service, { transactionId, origin, body }: DeliveryRecord): Markup | string {
  const transaction = service.store.get('transaction', transactionId);
  const genuine = transaction === undefined ? body : JSON.stringify(callbackData(transaction));
  const from = origin === null ? undefined : service.store.get('delivery', origin)?.body;
  const [before, what] =
    from === undefined || from === body ? [genuine, 'the genuine callback'] : [from, `delivery ${origin}`];
  if (before === body) return '';
  return html`<section class="card" id="changes" aria-labelledby="changes-title"><h2 id="changes-title">What differs from ${what}</h2>${difference(before, body)}</section>`;
}

function attemptSection(
  service: Service,
  delivery: DeliveryRecord,
  attempt: DeliveryAttempt,
  number: number,
): Markup {
  const { id, url, body, signed, signing, attempts } = delivery;
  const { sent, response, status, error, ms, at } = attempt;
  const key = `attempt-${number}`;
  const { pathname, search } = new URL(url);
  const isLast = number === attempts.length;
  return html`<details class="card" id="${key}"${isLast ? html` open` : ''}>
<summary>Attempt ${number} ${badge(statusTone(error === null ? status : null), status === null ? 'No answer' : html`HTTP ${status}`)} <span class="quiet">${milliseconds(ms)}, ${time(at)}</span></summary>
<div class="stack">
${isLast ? '' : outcomeNote(service.outcomeOf(delivery, attempt))}
<div class="split"><div class="stack"><h2>Answer</h2>
${error === null ? '' : html`<p class="problem">${error}</p>`}
${response === null ? html`<p class="quiet">No answer was received.</p>` : html`${head(`HTTP/1.1 ${status}`, response.headers)}${bodyStart(response)}`}
${
  sent !== null &&
  html`<div class="stack">${signatureParts({ signed, signature: sent.signature, key: signing.key }, at - (ms ?? 0), service.account)}</div>
<div>${copyable(`${key}-curl`, 'As curl', asCurl({ url, headers: sent.headers, body }))}
${copyable(`${key}-fixture`, 'As a fixture', asFixture({ url, headers: sent.headers, body }))}
${copyable(`${key}-test`, 'As a test', asTest({ url, headers: sent.headers, body }, `delivery ${id}`, signing.key === 'account' ? 200 : 401))}</div>`
}</div>
<div class="stack"><h2>Request</h2>
${
  sent === null
    ? html`<p class="quiet">Nothing was sent.</p>`
    : html`${head(`POST ${pathname}${search} HTTP/1.1`, sent.headers)}${editableBody(delivery)}`
}</div></div></div></details>`;
}

/** One callback: its outcome and the reason, and every attempt as it was on the wire. */
export const delivery: Page = {
  show(service, c) {
    const delivery = service.store.get('delivery', c.req.param('id') ?? '');
    if (delivery === undefined) return nothing(c, 'delivery');
    const { id, transactionId, url, origin, misbehaves, attempts, retry, state } = delivery;
    const transaction = service.store.get('transaction', transactionId);
    const others = service.store
      .list('delivery')
      .filter((one) => one.transactionId === transactionId && one.id !== id);
    const again = others.filter((one) => one.origin === id);
    const trouble = troubled(service).find(({ deliveries }) => deliveries.includes(delivery));
    const plan = planOf(delivery, service.clock.now());
    const last = attempts.at(-1);
    const [newest, ...earlier] = attempts
      .map((attempt, index) => attemptSection(service, delivery, attempt, index + 1))
      .reverse();
    return {
      title: `Delivery ${id}`,
      says: `Delivery ${id}: ${state.replace('_', ' ')}, ${counted(attempts.length, 'attempt')}.`,
      beside: html`${deliveryState(service, delivery)}<div class="actions">${
        state === 'scheduled'
          ? button(`deliveries/${id}/release`, 'Send now', { at: 'main' })
          : button(`deliveries/${id}/resend`, 'Send again', { at: 'main', kind: 'main' })
      }<a class="button" href="/compose/${id}">Compose</a>${last?.sent ? copyButton(`attempt-${attempts.length}-curl-text`, 'Copy as curl', 'copy-curl') : ''}${trouble === undefined ? '' : dismissButton(trouble)}</div>`,
      body: html`${last === undefined ? note('info', plan) : outcomeNote(service.outcomeOf(delivery, last))}
<section class="card" id="facts" aria-label="Facts"><dl class="facts">
<dt>Transaction</dt><dd><a href="/transactions/${transactionId}">${transaction?.merchantReference ?? transactionId}</a></dd>
<dt>To</dt><dd><code>${url}</code></dd>
${misbehaves.length === 0 ? '' : html`<dt>Changes</dt><dd>${misbehaves.join(', ')}</dd>`}
${origin === null ? '' : html`<dt>Resent from</dt><dd><a href="/deliveries/${origin}">Delivery ${origin}</a></dd>`}
${again.length === 0 ? '' : html`<dt>Sent again as</dt><dd>${again.map((one) => html`<a href="/deliveries/${one.id}">Delivery ${one.id}</a> `)}</dd>`}
<dt>Attempts</dt><dd>${count(attempts.length)} of ${retry.max_attempts}${last === undefined || plan === '' ? '' : html`. ${plan}`}</dd>
${others.length === 0 ? '' : html`<dt>Compare with</dt><dd>${others.map((one) => html`<a href="/deliveries/compare?of=${id}&of=${one.id}">Delivery ${one.id}</a> `)}</dd>`}
</dl></section>
${newest ?? html`<section class="card" id="body" aria-labelledby="body-title"><h2 id="body-title">What will be sent</h2>${editableBody(delivery)}</section>`}
${changesPart(service, delivery)}
${earlier}`,
    };
  },
  buttons: {
    'deliveries/:id{[0-9]+}/resend': (_, service, c) => ({
      said: SENDING,
      to: `/deliveries/${service.resend(idIn(c)).id}`,
    }),
    'deliveries/:id{[0-9]+}/release': (_, service, c) => sending(service.release(idIn(c))),
  },
};
