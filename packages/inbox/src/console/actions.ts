import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import { counted } from '@payment-service/pages';
import type { Resolution } from '../operator/actions.ts';
import type { ConsolePermission } from './access.ts';
import { bulkPage, selectionIn } from './pages/bulk.ts';
import { at, missingPage, plainResponse, type View } from './pages/page.ts';
import { transitionPage } from './pages/transition.ts';
import { seeOther } from './said.ts';

/** The permission for each form, and its confirmation. */
const FORMS: Readonly<Record<string, readonly [needed: ConsolePermission, done: string]>> = {
  retry: ['retry', 'Retried: the next free worker applies it.'],
  resolve: ['resolve', 'Closed.'],
  reopen: ['reopen', 'Reopened: the next free worker applies it.'],
  accept: ['expect', 'Accepted: the next free worker applies it.'],
  forget: ['forget', 'The personal data of this payment was removed.'],
};

/**
 * Performs the action of a form in the name that `authorize` returned. The form has been checked to be one of this visitor's.
 *
 * @param id of one transition; undefined for all of a selection.
 */
export async function act(
  view: View,
  form: URLSearchParams,
  id: string | undefined,
  name: string = form.get('action') ?? '',
): Promise<Response> {
  const { inbox, access, basePath } = view;
  const [needed, done = ''] = (Object.hasOwn(FORMS, name) ? FORMS[name] : undefined) ?? [];
  if (needed === undefined || !access.may.includes(needed)) return plainResponse(403);
  const typed = { note: form.get('note') ?? '' };
  const given = { by: access.by, note: typed.note };
  try {
    if (id !== undefined) {
      if (name === 'retry') await inbox.retry(id, given);
      else if (name === 'reopen') await inbox.reopen(id, given);
      else if (name === 'forget') {
        const { signed } = (await inbox.show(id)) ?? {};
        if (signed === undefined) return missingPage(view);
        await inbox.forget(signed.merchant_reference, given);
      } else await inbox.resolve(id, { ...given, ...(name === 'accept' ? acceptedIn(form) : {}) });
      return seeOther(at(view, `/transitions/${id}`), done, basePath);
    }
    const selection = selectionIn(form);
    if (selection === undefined || (name !== 'retry' && name !== 'resolve')) return plainResponse(405);
    const moved = await inbox[name](selection, given);
    const said = `${counted(moved, 'transition')} ${name === 'retry' ? 'retried' : 'closed'}.`;
    return seeOther(at(view, `/transitions?state=${selection.state}`), said, basePath);
  } catch (error) {
    const problem = problemIn(error);
    if (problem === undefined) throw error;
    const filled = { form: name, typed, problem };
    const text = 'Refused. Nothing was changed.';
    const status = error instanceof InvalidStateError ? 409 : 422;
    return id === undefined
      ? bulkPage({ ...view, query: form }, { filled, text, status })
      : transitionPage(view, id, { filled, text, status });
  }
}

/** The digest of a body, and which of its amounts. */
function acceptedIn(form: URLSearchParams): Partial<Resolution> {
  const [body = '', compare] = (form.get('body') ?? '').split(':');
  const isKnown = compare === 'both' || compare === 'request' || compare === 'transaction';
  return { body, replace: true, ...(isKnown ? { compare } : {}) };
}

/** The message, if the visitor can act on it. */
function problemIn(error: unknown): { text: string; field?: string } | undefined {
  if (error instanceof InvalidStateError) return { text: error.message };
  if (!(error instanceof ConfigurationError)) return undefined;
  if (error.option === 'note') return { text: 'Say why, in at most 1000 characters.', field: 'note' };
  return ['body', 'transitionId'].includes(error.option ?? '') ? { text: error.message } : undefined;
}
