import {
  canonicalAmount,
  InvalidInputError,
  InvalidStateError,
  NotFoundError,
  StaleError,
} from '@payment-service/core';
import { count, counted, type Filled, fieldsOf, form, html } from '@payment-service/pages';
import type { ActName } from '../../operator/acts/action-log.ts';
import type { Act } from '../../operator/acts/offers.ts';
import {
  BULK_ACTS,
  type BulkAct,
  isFar,
  MAX_ACTED,
  OPERATIONS,
  textOf,
} from '../../operator/acts/operations.ts';
import type { Settled } from '../../verdict/evaluate.ts';
import { COMPARISONS } from '../../verdict/stored-values.ts';
import { wordsOfReason } from '../../words.ts';
import { at, consolePage, missingPage, plainResponse, type Refused, seeOther, type View } from './page.ts';
import { NOTE, paymentPage } from './payment.ts';
import { isReason } from './payments.ts';
import { paymentList, paymentPath, sumsTable } from './summary.ts';

/** Performs the act of a form in the name that `authorize` returned. The form is this visitor's, who has the permission. */
export async function act(view: View, form: URLSearchParams, name: ActName): Promise<Response> {
  const { inbox, access, basePath } = view;
  const act = actIn(form, name);
  if (act === undefined) return plainResponse(400);
  const typed = Object.fromEntries(form);
  const { note = '', currency = '', amount = '' } = typed;
  const compare = COMPARISONS.find((each) => each === typed['compare']) ?? 'both';
  const money = name === 'expect' ? { currency, amount, compare } : undefined;
  const query = new URLSearchParams(paymentPath(act).split('?')[1]);
  const problem = await unconfirmed(view, act, money ?? act.money, typed);
  if (problem !== undefined)
    return paymentPage({ ...view, query }, { filled: { form: name, typed, problem }, status: 422 });
  try {
    await inbox.act(act, { by: access.by, note, ...money });
    const done = OPERATIONS[name].done(money === undefined ? act : { money });
    return seeOther(at(view, paymentPath(act)), done, basePath);
  } catch (error) {
    return paymentPage({ ...view, query }, refusalOf(error, name, typed));
  }
}

/** A typed amount, which may have groups, in the form in which amounts are stored. */
function bare(typed = ''): string {
  const amount = typed.replace(/[\s,]/g, '');
  return /^\d{1,40}(?:\.\d{1,40})?$/.test(amount) ? canonicalAmount(amount) : amount;
}

/** Why an amount that is far from what is expected is not accepted yet: it was not typed again. */
async function unconfirmed(
  { inbox }: View,
  { name, merchant_reference, transaction_type }: Act,
  money: Settled | undefined,
  { again }: Filled['typed'],
): Promise<Filled['problem']> {
  if (money === undefined || (name !== 'accept' && name !== 'expect')) return undefined;
  const { expected } = (await inbox.payment(merchant_reference, transaction_type)) ?? {};
  if (!isFar(money, expected) || bare(again) === bare(money.amount)) return undefined;
  const text = `${textOf(money)} is far from the expected ${textOf(expected)}. Type ${money.amount} here, if you are sure.`;
  return { text, field: 'again' };
}

/** The act that a form carries, of the name that its address has: the visitor's permission was checked for that. */
function actIn(form: URLSearchParams, name: ActName): Act | undefined {
  try {
    const act = Object(JSON.parse(form.get('act') ?? ''));
    const key = [act.merchant_reference, act.transaction_type];
    if (act.name !== name || !key.every((each) => typeof each === 'string')) return undefined;
    return { ...act, revision: form.get('revision') ?? '' };
  } catch {
    return undefined;
  }
}

/** Why a form was refused. @throws What the visitor cannot act on. */
function refusalOf(error: unknown, form: ActName, typed: Filled['typed']): Refused {
  if (error instanceof InvalidStateError || error instanceof StaleError)
    return { filled: { form, typed, problem: { text: error.message } }, status: 409 };
  if (error instanceof NotFoundError)
    return { filled: { form, typed, problem: { text: error.message } }, status: 404 };
  if (!(error instanceof InvalidInputError)) throw error;
  const { field, message } = error;
  const text = field === 'note' ? 'Say why, in at most 1000 characters.' : message;
  return { filled: { form, typed, problem: { text, field } }, status: 422 };
}

export async function actInBulk(view: View, form: URLSearchParams, name: BulkAct): Promise<Response> {
  const { inbox, access, basePath } = view;
  const [reason, until] = [form.get('reason') ?? '', new Date(Number(form.get('until') ?? Number.NaN))];
  if (!isReason(reason) || Number.isNaN(until.getTime())) return plainResponse(400);
  const note = form.get('note') ?? '';
  try {
    const { done, skipped } = await inbox.actAll(name, { reason, until }, { by: access.by, note });
    const { past, outcome } = BULK[name];
    const left = skipped === 0 ? '' : `, and ${count(skipped)} skipped, since they have changed`;
    const said = `${counted(done, 'report')} ${past}${left}. ${outcome}`;
    return seeOther(at(view, '/payments'), said, basePath);
  } catch (error) {
    return bulkPage({ ...view, query: form }, refusalOf(error, name, { note }));
  }
}

const MAX_PREVIEWED = 10;

/** What an act in bulk does to the money, before and after it. */
const BULK = {
  retry: {
    about:
      'Checks each report again now, under the same rules. What then equals your expectation is credited: at most what is expected below.',
    kind: 'main',
    past: 'retried',
    outcome: 'Nothing was credited yet: the next free worker checks them.',
  },
  close: {
    about: 'Closes each report. Nothing is credited from them.',
    kind: 'danger',
    past: 'closed',
    outcome: 'Nothing was credited from them.',
  },
} as const;

/** Shows which payments an act in bulk would change, before it is confirmed. */
export async function bulkPage(view: View, refused?: Refused): Promise<Response> {
  const { query, access, inbox } = view;
  const name = BULK_ACTS.find((each) => each === (refused?.filled.form ?? query.get('act')));
  const reason = query.get('reason') ?? '';
  if (name === undefined || !isReason(reason) || !access.may.includes(name)) return missingPage(view);
  const { items, next, at: lookedAt } = await inbox.payments({ reason, limit: MAX_ACTED });
  const { about, kind } = BULK[name];
  const title = `${OPERATIONS[name].label} all: ${counted(items.length, 'payment')}`;
  const fields = fieldsOf(name, refused?.filled);
  const until = query.get('until') ?? String(lookedAt?.getTime());
  const confirm = form(name, at(view, `/acts/${name}`), {
    hidden: { proof: view.proof.value, reason, until },
    fields: html`${fields.field({ ...NOTE, hint: 'Kept with your name, for each of them.' })}${fields.problem()}`,
    button: title,
    kind,
  });
  return consolePage(view, {
    title,
    section: '/payments',
    crumbs: [['/payments', 'Payments']],
    refused,
    body:
      items.length === 0
        ? html`<p>No payment needs a person for this reason: it was decided, or a worker has applied it.</p>`
        : html`<p>${about} ${next === undefined ? '' : `These are the ${MAX_ACTED} that changed last: repeat it for the rest. `}What changes after this page was opened is skipped.</p>
${sumsTable('acted-sums', items)}
<section class="card single">${confirm}</section>
<section class="stack"><h2>${items.length > MAX_PREVIEWED ? `The first ${MAX_PREVIEWED}` : 'Which ones'}</h2>
<p class="quiet">All of them: ${wordsOfReason(reason).heading} (<code>${reason}</code>).</p>
${paymentList(view, 'acted', items.slice(0, MAX_PREVIEWED))}</section>`,
  });
}
