import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import type { ActionNote, Inbox, TransitionState } from '@payment-service/inbox';
import { formField } from './checkout.ts';
import type { Transaction } from './database/database.ts';
import { HELD_STATES, INBOX_STATES } from './inbox-words.ts';
import type { OrderStore } from './order-store.ts';
import { problemPage } from './pages/message-page.ts';
import { ownerInboxPage } from './pages/owner-inbox-page.ts';
import { ownerTransitionPage } from './pages/owner-transition-page.ts';
import { json, type Page, seeOther } from './pages/page.ts';
import { type PageRequest, pathPart, queryOf, type Route } from './route.ts';
import { ownerOfSession } from './session.ts';

const A_PAGE = 25;
const MAX_COUNTED = 1000;
const INBOX = '/owner/inbox';

/** The inbox for its owner, who may do by forms what no rule may decide; and for a monitor. */
export function createInboxRoutes(inbox: Inbox<Transaction>, orders: OrderStore): Route[] {
  const showTransition = async (id: string, trouble?: string): Promise<Page> => {
    const transition = isTransitionId(id) ? await inbox.show(id) : undefined;
    if (transition === undefined) return problemPage(404);
    const order = await orders.find(transition.signed.merchant_reference);
    return ownerTransitionPage({ transition, order, trouble });
  };
  const action = (
    name: string,
    act: (id: string, note: ActionNote, form: unknown) => Promise<unknown>,
  ): Route => ({
    method: 'post',
    path: `${INBOX}/:transition/${name}`,
    answer: async (request) => {
      const id = pathPart(request, 'transition');
      const { form } = request;
      try {
        await act(id, { by: ownerOfSession(), note: formField(form, 'note') }, form);
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
    action('retry', (id, note) => inbox.retry(id, note)),
    action('reopen', (id, note) => inbox.reopen(id, note)),
    action('resolve', (id, note, form) =>
      inbox.resolve(id, { ...note, body: formField(form, 'body') || undefined }),
    ),
    {
      method: 'get',
      path: '/healthz',
      answer: async () => {
        const health = await inbox.health();
        // What waits for a person is no reason to take the shop out of service: a monitor may alert on it.
        const needsPerson = health.problems.includes('store_unavailable')
          ? undefined
          : await countHeld(inbox);
        return json(health.ok ? 200 : 503, { ...health, needsPerson });
      },
    },
  ];
}

/** Few of each state, and not `stats()`, which counts all that is open: a monitor asks every few seconds. */
async function countHeld(inbox: Inbox<Transaction>): Promise<Readonly<Record<string, number>>> {
  const counts = HELD_STATES.map(async (state) => {
    const found = await inbox.list({ state, limit: MAX_COUNTED });
    return [state, found.length] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
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

/** In words for the owner, if the owner can fix it. */
function troubleIn(error: unknown): string | undefined {
  if (error instanceof InvalidStateError) return `Nothing was changed: ${error.message}`;
  if (!(error instanceof ConfigurationError)) return undefined;
  if (error.option === 'note') return 'Enter a note that says why, in at most 1000 characters.';
  return error.option === 'body' || error.option === 'transitionId' ? error.message : undefined;
}
