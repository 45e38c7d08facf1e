import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import type { Inbox, TransitionDetails, TransitionState } from '@payment-service/inbox';
import { formField } from './checkout.ts';
import type { Transaction } from './database/database.ts';
import { INBOX_STATES } from './inbox-words.ts';
import { canPayOrder } from './order.ts';
import { problemPage } from './pages/message-page.ts';
import { ownerInboxPage } from './pages/owner-inbox-page.ts';
import { ownerTransitionPage } from './pages/owner-transition-page.ts';
import { json, type Page, seeOther } from './pages/page.ts';
import { type PageRequest, pathPart, queryOf, type Route } from './route.ts';

const A_PAGE = 25;
const INBOX = '/owner/inbox';

/** The inbox for its owner, who may do by forms what no rule may decide; and for a monitor. */
export function createInboxRoutes(inbox: Inbox<Transaction>): Route[] {
  const showTransition = async (id: string, trouble?: string): Promise<Page> => {
    const transition = isTransitionId(id) ? await inbox.show(id) : undefined;
    return transition === undefined ? problemPage(404) : ownerTransitionPage(transition, trouble);
  };
  const action = (
    name: string,
    act: (id: string, request: PageRequest, found: TransitionDetails) => Promise<void>,
  ): Route => ({
    method: 'post',
    path: `${INBOX}/:transition/${name}`,
    answer: async (request) => {
      const id = pathPart(request, 'transition');
      const found = isTransitionId(id) ? await inbox.show(id) : undefined;
      if (found === undefined) return problemPage(404);
      try {
        await act(id, request, found);
      } catch (error) {
        const trouble = troubleIn(error);
        if (trouble === undefined) throw error;
        return showTransition(id, trouble);
      }
      return seeOther(`${INBOX}/${id}`);
    },
  });

  return [
    { method: 'get', path: INBOX, answer: (request) => listTransitions(inbox, request) },
    {
      method: 'get',
      path: `${INBOX}/:transition`,
      answer: (request) => showTransition(pathPart(request, 'transition')),
    },
    action('retry', (id) => inbox.retry(id)),
    action('reopen', (id) => inbox.reopen(id)),
    action('resolve', async (id, { form }, { signed }) => {
      const body = formField(form, 'body') || undefined;
      if (body !== undefined && !canPayOrder(signed)) {
        throw new InvalidStateError('Only a COLLECTION pays an order. Close it without accepting an amount.');
      }
      await inbox.resolve(id, { note: formField(form, 'note'), body });
    }),
    {
      method: 'get',
      path: '/healthz',
      answer: async () => {
        const health = await inbox.health();
        return json(health.ok ? 200 : 503, health);
      },
    },
  ];
}

async function listTransitions(inbox: Inbox<Transaction>, request: PageRequest): Promise<Page> {
  const query = queryOf(request);
  const state = query.get('state') || undefined;
  const after = query.get('after') || undefined;
  // Pasted by a person: no reference of the shop begins or ends with a space.
  const reference = query.get('reference')?.trim() || undefined;
  if (state !== undefined && !isState(state)) return problemPage(404);
  if (after !== undefined && !isTransitionId(after)) return problemPage(404);
  // One more than is shown tells whether there are older ones.
  const found = await inbox.list({ state, after, merchant_reference: reference, limit: A_PAGE + 1 });
  const transitions = found.slice(0, A_PAGE);
  return ownerInboxPage({
    state,
    reference,
    transitions,
    older: found.length > A_PAGE ? transitions.at(-1)?.transitionId : undefined,
    stats: await inbox.stats(),
    overdue: await inbox.overdue({ limit: A_PAGE }),
  });
}

function isState(text: string): text is TransitionState {
  return INBOX_STATES.some((state) => state === text);
}

function isTransitionId(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** In words for the owner, where it is the owner's to mend. */
function troubleIn(error: unknown): string | undefined {
  if (error instanceof InvalidStateError) return `Nothing was changed: ${error.message}`;
  if (!(error instanceof ConfigurationError)) return undefined;
  if (error.option === 'note') return 'Write a note: why is it closed? At most 1000 characters.';
  return error.option === 'body' ? error.message : undefined;
}
