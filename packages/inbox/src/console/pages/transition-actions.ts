import { type Filled, fieldsOf, form, html, type Markup } from '@payment-service/pages';
import type { ActionNote } from '../../operator/action-log.ts';
import type { KeptBody, TransitionDetails } from '../../operator/views.ts';
import { CLOSED_STATES } from '../../states.ts';
import {
  type Comparison,
  equalsExpectation,
  type StoredClaim,
  withRoundedAccepted,
  withTextAccepted,
} from '../../work/verdict/evaluate.ts';
import { COMPARISONS } from '../../work/verdict/stored.ts';
import type { ConsolePermission } from '../access.ts';
import { at, type ConsoleInbox, type View } from './page.ts';
import { moneyText, transitionPath } from './summary.ts';

/** What an operator can do with one transition: its form, its effect and its confirmation. */
interface TransitionAction {
  readonly needs: ConsolePermission;
  readonly isOffered: (transition: TransitionDetails) => boolean;
  readonly title: string;
  readonly explain: (transition: TransitionDetails) => string;
  readonly button: string | ((transition: TransitionDetails) => string);
  /** A note that says enough, so that one click does it. */
  readonly note?: string;
  readonly run: (
    inbox: ConsoleInbox,
    /** With the revision that its page showed. */
    transition: TransitionDetails,
    note: ActionNote,
    form: URLSearchParams,
  ) => Promise<unknown>;
  readonly done: string;
}

/** Open transitions that an operator may admit. */
const REOPENED: ReadonlySet<string | undefined> = new Set([
  'transition_not_allowed',
  'unnamed_after_paid',
  'canceled',
  'contradicting_bodies',
  'timestamp_out_of_tolerance',
  'timestamp_unreadable',
]);
const isOpen = ({ state }: TransitionDetails): boolean => !CLOSED_STATES.includes(state);
/** At any time, also if it was closed since. */
const wasApplied = ({ state, bodies }: TransitionDetails): boolean =>
  state === 'settled' || bodies.some(({ isSettled }) => isSettled);
const againText = ({ settled, signed }: TransitionDetails): string =>
  settled === undefined
    ? `runs your handler of ${signed.transaction_status}`
    : `credits ${moneyText(settled)}`;
const timesText = ({ actions }: TransitionDetails): string =>
  actions.some(({ action }) => action === 'applyAgain') ? 'once more' : 'a second time';

export const ACTIONS: ReadonlyMap<string, TransitionAction> = new Map(
  Object.entries<TransitionAction>({
    accept: {
      needs: 'expect',
      isOffered: (transition) => acceptable(transition).length > 0,
      title: 'Accept an amount',
      explain: ({ expectation, reason }) => {
        if (expectation === undefined)
          return 'The amount of the body becomes the expectation and is applied.';
        const money = moneyText(expectation);
        return reason === 'amount_inexact'
          ? `The number of the body was rounded: it counts as the expected ${money}, which is applied. Do this only if the service says that this was paid.`
          : `The amount of the body replaces the expected ${money}, and is applied. Do this only if you know what was paid, such as from the service.`;
      },
      button: 'Accept',
      run(inbox, seen, note, sent) {
        const [body = '', way] = (sent.get('body') ?? '').split(':');
        const compare = COMPARISONS.find((each) => each === way);
        return inbox.accept(seen, { ...note, body, compare });
      },
      done: 'Accepted: the next free worker applies it.',
    },
    acceptText: {
      needs: 'expect',
      isOffered: (transition) =>
        isOpen(transition) &&
        transition.reason === 'amount_text' &&
        transition.bodies.some((body) => equalsAsText(body, transition)),
      title: 'Accept the amount sent as text',
      explain: ({ expectation }) =>
        `The text is the expected ${expectation === undefined ? 'amount' : moneyText(expectation)}: that is applied.`,
      button: 'Accept the text',
      note: 'The amount was sent as text, and it is as expected.',
      run: (inbox, seen, note) => inbox.acceptText(seen, note),
      done: 'Accepted: the next free worker applies it.',
    },
    retry: {
      needs: 'retry',
      isOffered: (transition) => isOpen(transition) && transition.state !== 'pending',
      title: 'Retry',
      explain: () => 'Checks it again now, under the same rules and with all attempts.',
      button: 'Retry',
      run: (inbox, seen, note) => inbox.retry(seen, note),
      done: 'Retried: the next free worker applies it.',
    },
    resolve: {
      needs: 'resolve',
      isOffered: isOpen,
      title: 'Close',
      explain: () => 'Closes it, and applies nothing.',
      button: 'Close',
      run: (inbox, seen, note) => inbox.resolve(seen, note),
      done: 'Closed.',
    },
    reopen: {
      needs: 'reopen',
      isOffered: (transition) =>
        !transition.isArchived &&
        !wasApplied(transition) &&
        (!isOpen(transition) || REOPENED.has(transition.reason)),
      title: 'Reopen',
      explain: ({ state }) =>
        state === 'resolved'
          ? 'It was closed and never applied. This checks it again, and applies it if the rules allow that.'
          : 'Admits it despite the rule. Do this only if you know that it is right.',
      button: 'Reopen',
      run: (inbox, seen, note) => inbox.reopen(seen, note),
      done: 'Reopened: the next free worker applies it.',
    },
    applyAgain: {
      needs: 'applyAgain',
      isOffered: (transition) =>
        !transition.isArchived &&
        wasApplied(transition) &&
        !['pending', 'retrying'].includes(transition.state),
      title: 'Apply again',
      explain: (transition) =>
        `It was applied. This ${againText(transition)} ${timesText(transition)}. Do this only if the service confirms that it happened again, or if you have undone its effect.`,
      button: (transition) => `Apply ${timesText(transition)}`,
      run: (inbox, seen, note) => inbox.applyAgain(seen, note),
      done: 'It will be applied again: the next free worker does it.',
    },
    forget: {
      needs: 'forget',
      isOffered: ({ signed }) => signed.merchant_reference !== '',
      title: 'Forget',
      explain: () =>
        'For a request for erasure: removes the content of bodies, the errors and the notes of everything under this reference. What prevents a second payment stays. It cannot be undone, so do not write a name into the note.',
      button: 'Remove personal data',
      run: (inbox, { signed }, note) => inbox.forget(signed.merchant_reference, note),
      done: 'The personal data of this payment was removed.',
    },
  }),
);

/** The actions that this visitor may do now. The inbox checks them again, since the page may be out of date. */
export function actionForms(view: View, transition: TransitionDetails, filled: Filled | undefined): Markup {
  const offered = [...ACTIONS].filter(
    ([, { needs, isOffered }]) => view.access.may.includes(needs) && isOffered(transition),
  );
  const forms = offered.map(([name, { title, explain, button, note = '' }]) => {
    const fields = fieldsOf(name, filled);
    const amounts = { name: 'body', label: 'What was paid' };
    return html`<section class="card single"><h3>${title}</h3><p class="quiet small">${explain(transition)}</p>
${form(name, at(view, `${transitionPath(transition)}/${name}`), {
  hidden: { proof: view.proof.value, revision: transition.revision },
  fields: html`${name === 'accept' ? fields.choice(amounts, acceptable(transition)) : ''}${fields.field({ name: 'note', label: 'Why', hint: 'Kept with your name.', value: note })}${fields.problem()}`,
  button: typeof button === 'string' ? button : button(transition),
})}</section>`;
  });
  const none = html`<p class="quiet">${transition.isArchived ? 'It is archived and final: its bodies and what was done were removed.' : 'Nothing now.'}</p>`;
  return html`<section class="stack" id="actions"><h2>What you can do</h2>${forms.length === 0 ? none : forms}</section>`;
}

const equalsAsText = (body: KeptBody, { expectation }: TransitionDetails): boolean =>
  expectation !== undefined && equalsExpectation(withTextAccepted(body), expectation);

/** The amounts of bodies that an operator may accept: each becomes the expectation. */
function acceptable(transition: TransitionDetails): [value: string, text: string][] {
  const { bodies, expectation, signed } = transition;
  const isPayable = signed.transaction_status === 'COMPLETED' && expectation?.settledBy === undefined;
  if (!isOpen(transition) || !isPayable || transition.reason === 'empty_reference') return [];
  return bodies.flatMap(({ digest, refusal, request, transaction }, index): [string, string][] => {
    if (refusal !== undefined) return [];
    if (expectation !== undefined && withRoundedAccepted({ request, transaction }, expectation) !== undefined)
      return [
        [`${digest}:${expectation.compare}`, `${moneyText(expectation)}, rounded in body ${index + 1}`],
      ];
    const isOne = request.currency === transaction.currency && request.amount === transaction.amount;
    const ways: readonly (readonly [Comparison, StoredClaim, string])[] = isOne
      ? [['both', transaction, 'both amounts of']]
      : [
          ['transaction', transaction, 'transacted by'],
          ['request', request, 'requested by'],
        ];
    const isNew = ({ currency, amount }: StoredClaim): boolean =>
      currency !== expectation?.currency || amount !== expectation.amount;
    return ways
      .filter(([, claim]) => claim.currency !== null && claim.amount !== null && isNew(claim))
      .map(([way, claim, what]) => [`${digest}:${way}`, `${moneyText(claim)}, ${what} body ${index + 1}`]);
  });
}
