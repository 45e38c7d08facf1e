import { ConfigurationError, InvalidStateError, StaleError } from '@payment-service/core';
import { counted, type Filled } from '@payment-service/pages';
import type { ActName } from '../operator/action-log.ts';
import type { Act } from '../operator/offers.ts';
import { type BulkAct, OPERATIONS } from '../operator/operations.ts';
import { COMPARISONS } from '../work/verdict/stored.ts';
import { bulkPage } from './pages/bulk.ts';
import { at, plainResponse, type Refused, type View } from './pages/page.ts';
import { paymentPage } from './pages/payment.ts';
import { isReason } from './pages/payments.ts';
import { paymentPath } from './pages/summary.ts';
import { seeOther } from './said.ts';

/** Performs the act of a form in the name that `authorize` returned. The form is this visitor's, who has the permission. */
export async function act(view: View, form: URLSearchParams, name: ActName): Promise<Response> {
  const { inbox, access, basePath } = view;
  const act = actIn(form, name);
  if (act === undefined) return plainResponse(400);
  const typed = Object.fromEntries([...form].filter(([field]) => FIELDS.includes(field)));
  const compare = COMPARISONS.find((each) => each === typed['compare']);
  const stated = {
    ...{ currency: typed['currency'] ?? '', amount: typed['amount'] ?? '' },
    ...(compare && { compare }),
  };
  const given = { by: access.by, note: typed['note'] ?? '' };
  try {
    await inbox.act(act, name === 'expect' ? { ...given, ...stated } : given);
    const done = OPERATIONS[name].done(name === 'expect' ? { money: stated } : act);
    return seeOther(at(view, paymentPath(act)), done, basePath);
  } catch (error) {
    const query = new URLSearchParams(paymentPath(act).split('?')[1]);
    return paymentPage({ ...view, query }, refusalOf(error, name, typed));
  }
}

const FIELDS = ['note', 'currency', 'amount', 'compare', 'act'];

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

/** What can be wrong in a form, or in the amount that it accepts; and a payment that has vanished. */
const OF_FORM = ['note', 'currency', 'amount', 'compare', 'body', 'merchant_reference', 'act'];

/** Why a form was refused. @throws What the visitor cannot act on. */
function refusalOf(error: unknown, form: ActName, typed: Filled['typed']): Refused {
  if (error instanceof InvalidStateError || error instanceof StaleError)
    return { filled: { form, typed, problem: { text: error.message } }, status: 409 };
  if (!(error instanceof ConfigurationError) || !OF_FORM.includes(error.option)) throw error;
  const { option: field, message } = error;
  const text = field === 'note' ? 'Say why, in at most 1000 characters.' : message;
  return { filled: { form, typed, problem: { text, field } }, status: 422 };
}

export async function actInBulk(view: View, form: URLSearchParams, name: BulkAct): Promise<Response> {
  const { inbox, access, basePath } = view;
  const [reason, until] = [form.get('reason') ?? '', new Date(Number(form.get('until') ?? Number.NaN))];
  if (!isReason(reason) || Number.isNaN(until.getTime())) return plainResponse(400);
  const note = form.get('note') ?? '';
  try {
    const { done } = await inbox.actAll(name, { reason, until }, { by: access.by, note });
    const said = `${counted(done, 'payment')} ${name === 'retry' ? 'retried' : 'closed'}.`;
    return seeOther(at(view, '/payments'), said, basePath);
  } catch (error) {
    return bulkPage({ ...view, query: form }, refusalOf(error, name, { note }));
  }
}
