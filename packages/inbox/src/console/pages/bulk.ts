import { counted, fieldsOf, form, html } from '@payment-service/pages';
import { BULK_ACTS, MAX_ACTED, OPERATIONS } from '../../operator/operations.ts';
import { wordsOfReason } from '../../words.ts';
import { NOTE } from './act-forms.ts';
import { at, consolePage, missingPage, type Refused, type View } from './page.ts';
import { isReason } from './payments.ts';
import { paymentList } from './summary.ts';

const MAX_PREVIEWED = 10;

/** Shows which payments an act in bulk would change, before it is confirmed. */
export async function bulkPage(view: View, refused?: Refused): Promise<Response> {
  const { query, access, inbox } = view;
  const name = BULK_ACTS.find((each) => each === (refused?.filled.form ?? query.get('act')));
  const reason = query.get('reason') ?? '';
  if (name === undefined || !isReason(reason) || !access.may.includes(name)) return missingPage(view);
  const { items, next, at: lookedAt } = await inbox.payments({ reason, limit: MAX_ACTED });
  const { label, about } = OPERATIONS[name];
  const title = `${label} ${counted(items.length, 'payment')}`;
  const fields = fieldsOf(name, refused?.filled);
  const until = query.get('until') ?? String(lookedAt?.getTime());
  const confirm = form(name, at(view, `/acts/${name}`), {
    hidden: { proof: view.proof.value, reason, until },
    fields: html`${fields.field({ ...NOTE, hint: 'Kept with your name, for each of them.' })}${fields.problem()}`,
    button: title,
    kind: 'danger',
  });
  return consolePage(view, {
    title,
    section: '/payments',
    crumbs: [['/payments', 'Payments']],
    refused,
    body:
      items.length === 0
        ? html`<p>No payments need a person for this reason.</p>`
        : html`<p>This ${about}. ${next === undefined ? '' : `These are the ${MAX_ACTED} that changed last: repeat it for the rest. `}What changes after this page was opened is left as it is.</p>
<section class="card single">${confirm}</section>
<section class="stack"><h2>${items.length > MAX_PREVIEWED ? `The first ${MAX_PREVIEWED}` : 'Which ones'}</h2>
<p class="quiet">All of them: ${wordsOfReason(reason).heading} (<code>${reason}</code>).</p>
${paymentList(view, 'acted', items.slice(0, MAX_PREVIEWED))}</section>`,
  });
}
