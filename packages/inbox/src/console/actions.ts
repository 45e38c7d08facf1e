import { ConfigurationError, InvalidStateError, StaleError } from '@payment-service/core';
import { counted, type Problem } from '@payment-service/pages';
import { actOnAll, type BulkAct } from '../operator/act-all.ts';
import { type Act, type ActName, OPERATIONS } from '../operator/operations.ts';
import { COMPARISONS } from '../work/verdict/stored.ts';
import { bulkPage } from './pages/bulk.ts';
import { at, plainResponse, type View } from './pages/page.ts';
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
    const problem = problemIn(error);
    if (problem === undefined) throw error;
    return paymentPage(
      { ...view, query: new URLSearchParams(paymentPath(act).split('?')[1]) },
      { filled: { form: name, typed, problem }, status: statusOf(error) },
    );
  }
}

const FIELDS = ['note', 'currency', 'amount', 'compare', 'act'];

/** The act that a form carries, of the name that its address has: the visitor's permission was checked for that. */
function actIn(form: URLSearchParams, name: ActName): Act | undefined {
  try {
    const { revision, ...act } = Object(JSON.parse(form.get('act') ?? ''));
    const key = [act.merchant_reference, act.transaction_type];
    if (act.name !== name || !key.every((each) => typeof each === 'string')) return undefined;
    return { ...act, revision: form.get('revision') ?? String(revision) };
  } catch {
    return undefined;
  }
}

const isOutOfDate = (error: unknown): error is Error =>
  error instanceof InvalidStateError || error instanceof StaleError;
const statusOf = (error: unknown): 409 | 422 => (isOutOfDate(error) ? 409 : 422);
/** What can be wrong in a form, or in the amount that it accepts; and a payment that has vanished. */
const OF_FORM = ['currency', 'amount', 'compare', 'body', 'merchant_reference', 'act'];

/** The message, if the visitor can act on it. */
function problemIn(error: unknown): Problem | undefined {
  if (isOutOfDate(error)) return { text: error.message };
  if (!(error instanceof ConfigurationError)) return undefined;
  const { option: field, message: text } = error;
  if (field === 'note') return { text: 'Say why, in at most 1000 characters.', field };
  return OF_FORM.includes(field) ? { text, field } : undefined;
}

export async function actInBulk(view: View, form: URLSearchParams, name: BulkAct): Promise<Response> {
  const { inbox, access, basePath } = view;
  const [reason, until] = [form.get('reason') ?? '', new Date(Number(form.get('until') ?? Number.NaN))];
  if (!isReason(reason) || Number.isNaN(until.getTime())) return plainResponse(400);
  const note = form.get('note') ?? '';
  try {
    const done = await actOnAll(inbox, name, { reason, until }, { by: access.by, note });
    const said = `${counted(done, 'payment')} ${name === 'retry' ? 'retried' : 'closed'}.`;
    return seeOther(at(view, '/payments'), said, basePath);
  } catch (error) {
    const problem = problemIn(error);
    if (problem === undefined) throw error;
    return bulkPage(
      { ...view, query: form },
      { filled: { form: name, typed: { note }, problem }, status: 422 },
    );
  }
}
