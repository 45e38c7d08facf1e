import { html, type Markup, note } from '@payment-service/pages';
import { at, consolePage, type View } from './page.ts';

/** “I have paid”: asks for a reference. The payment's page has the answer. */
export const paidForm = (view: View, reference: string): Markup =>
  html`<section class="card" id="paid"><h2>“I have paid”</h2>
<form class="search" action="${at(view, '/payment')}"><label class="hidden-text" for="paid-reference">The reference of the payment</label>
<input id="paid-reference" name="reference" type="search" required value="${reference}" placeholder="Reference of the order or of the service">
<button class="main">Answer</button></form></section>`;

const UNKNOWN =
  'Check it letter by letter, or ask for the reference that the payment service gave. If it is right, ask the payment service.';

/** For a reference under which there is nothing. */
export function unknownPage(view: View): Promise<Response> {
  const reference = (view.query.get('reference') ?? '').trim();
  const isAsked = view.query.has('reference');
  return consolePage(view, {
    title: isAsked ? reference || 'No reference' : '“I have paid”',
    section: '/payments',
    status: isAsked ? 404 : 200,
    crumbs: [['/payments', 'Payments']],
    body: html`${paidForm(view, reference)}
${isAsked && html`<div id="answer">${note('neutral', 'Nothing is known under this reference.', UNKNOWN)}</div>`}`,
  });
}
