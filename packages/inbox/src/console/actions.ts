import { ConfigurationError, InvalidStateError, StaleError } from '@payment-service/core';
import { counted, type Problem } from '@payment-service/pages';
import { at, missingPage, plainResponse, type View } from './pages/page.ts';
import { transitionPage } from './pages/transition.ts';
import { ACTIONS } from './pages/transition-actions.ts';
import { bulkPage, selectionIn } from './pages/transitions.ts';
import { seeOther } from './said.ts';

/**
 * Performs the action of a form in the name that `authorize` returned. The form has been checked to be one of this visitor's, who
 * has the permission.
 *
 * @param id of one transition; undefined for all of a selection.
 */
export async function act(
  view: View,
  form: URLSearchParams,
  id: string | undefined,
  name: string,
): Promise<Response> {
  const { inbox, access, basePath } = view;
  const action = ACTIONS.get(name);
  if (action === undefined) return plainResponse(405);
  const typed = { note: form.get('note') ?? '' };
  const given = { by: access.by, ...typed };
  try {
    if (id !== undefined) {
      const transition = await inbox.show(id);
      if (transition === undefined) return missingPage(view);
      await action.run(inbox, { ...transition, revision: form.get('revision') ?? '' }, given, form);
      return seeOther(at(view, `/transitions/${id}`), action.done, basePath);
    }
    const selection = selectionIn(form);
    if (selection === undefined || (name !== 'retry' && name !== 'resolve')) return plainResponse(405);
    const moved = await inbox[name](selection, given);
    const said = `${counted(moved, 'transition')} ${name === 'retry' ? 'retried' : 'closed'}.`;
    return seeOther(at(view, `/transitions?state=${selection.state}`), said, basePath);
  } catch (error) {
    const problem = problemIn(error);
    if (problem === undefined) throw error;
    const status = isOutOfDate(error) ? 409 : 422;
    const refused = { filled: { form: name, typed, problem }, status } as const;
    return id === undefined ? bulkPage({ ...view, query: form }, refused) : transitionPage(view, id, refused);
  }
}

/** What a body cannot settle, and a transition that has vanished since it was read. */
const OF_TRANSITION = ['body', 'merchant_reference', 'currency', 'amount', 'transitionId'];

const isOutOfDate = (error: unknown): error is Error =>
  error instanceof InvalidStateError || error instanceof StaleError;

/** The message, if the visitor can act on it. */
function problemIn(error: unknown): Problem | undefined {
  if (isOutOfDate(error)) return { text: error.message };
  if (!(error instanceof ConfigurationError)) return undefined;
  if (error.option === 'note') return { text: 'Say why, in at most 1000 characters.', field: 'note' };
  return OF_TRANSITION.includes(error.option) ? { text: error.message } : undefined;
}
