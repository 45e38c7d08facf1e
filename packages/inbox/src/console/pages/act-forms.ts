import { type Filled, fieldsOf, form, html, type Markup } from '@payment-service/pages';
import { ACT_NAMES } from '../../operator/action-log.ts';
import type { Act } from '../../operator/offers.ts';
import { OPERATIONS, textOf } from '../../operator/operations.ts';
import type { Payment } from '../../operator/payment.ts';
import { COMPARISONS } from '../../work/verdict/stored.ts';
import { at, type View } from './page.ts';

export const NOTE = { name: 'note', label: 'Why', hint: 'Kept with your name.' };

/** What this visitor may do now, one form for each name. The inbox checks it again, since the page may be out of date. */
export function actForms(view: View, payment: Payment, filled: Filled | undefined): Markup {
  // To credit once more is last: it is almost never what should be done.
  const names = [...ACT_NAMES.filter((name) => name !== 'applyAgain'), 'applyAgain' as const];
  const forms = names
    .filter((name) => view.access.may.includes(name))
    .map((name) => {
      const acts = payment.acts.filter((act) => act.name === name);
      const [first] = acts;
      if (first === undefined) return '';
      const { label, effect } = OPERATIONS[name];
      const fields = fieldsOf(name, filled);
      // The revision is a field of its own: what the reader has chosen stays chosen when the payment has changed, and an open page
      // keeps the revision that they saw.
      const choices = acts.map(
        ({ revision: _, ...act }) => [JSON.stringify(act), choiceText(act, payment)] as const,
      );
      const [[only] = ['']] = choices;
      const effects = new Set(acts.map((act) => effect(act, payment)));
      return html`<section class="card single"><h3>${label}</h3>${[...effects].map((text) => html`<p class="quiet small">${text}</p>`)}
${form(name, at(view, `/act/${name}`), {
  hidden: { proof: view.proof.value, revision: payment.revision, ...(acts.length === 1 && { act: only }) },
  fields: html`${acts.length === 1 ? '' : fields.choice({ name: 'act', label: 'Which' }, choices)}${name === 'expect' ? moneyFields(payment, fields) : ''}${fields.field(NOTE)}${fields.problem()}`,
  button: acts.length === 1 && first.money !== undefined ? `${label}: ${textOf(first.money)}` : label,
})}</section>`;
    });
  const mayNot = payment.acts.length > 0 ? 'Nothing with your permissions.' : 'Nothing now.';
  const none = payment.isArchived ? 'It is archived and final: its reports have no bodies any more.' : mayNot;
  const isNone = forms.every((one) => one === '');
  return html`<section class="stack" id="actions"><h2>What you can do</h2>${isNone ? html`<p class="quiet">${none}</p>` : forms}</section>`;
}

const COMPARED = { both: '', request: ', as requested', transaction: ', as transacted' } as const;

/** An act by its money and its report. */
function choiceText(
  { money, report, compare = 'both', isText }: Omit<Act, 'revision'>,
  { reports }: Payment,
): string {
  const signed = reports.find(({ transitionId }) => transitionId === report)?.signed;
  const amount = money && `${textOf(money)}${COMPARED[compare]}${isText ? ', sent as text' : ''}`;
  const which = signed && `${signed.transaction_status} of ${signed.internal_reference || 'no transaction'}`;
  return [amount, which].filter(Boolean).join(': ');
}

const moneyFields = ({ expected }: Payment, fields: ReturnType<typeof fieldsOf>): Markup =>
  html`${fields.field({ name: 'currency', label: 'Currency', value: expected?.currency ?? '' })}${fields.field({ name: 'amount', label: 'Amount', value: expected?.amount ?? '' })}${fields.choice(
    { name: 'compare', label: 'Compare with', value: expected?.compare ?? 'both' },
    COMPARISONS.map((each) => [each, each === 'both' ? 'both amounts of a report' : `its ${each} amount`]),
  )}`;
