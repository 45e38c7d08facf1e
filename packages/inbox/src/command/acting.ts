import { ConfigurationError } from '@payment-service/core';
import { Argument, InvalidArgumentError, type Option } from 'commander';
import type { Inbox } from '../inbox.ts';
import type { ActionNote } from '../operator/action-log.ts';
import type { Acceptance, SeenTransition, TransitionSelection } from '../operator/actions.ts';
import type { Forgotten } from '../operator/forget.ts';
import type { Pruned } from '../operator/prune.ts';
import { countText } from '../words.ts';
import type { Settled } from '../work/verdict/evaluate.ts';
import type { Expectation } from '../work/verdict/expectation.ts';
import { COMPARISONS } from '../work/verdict/stored.ts';
import { withInbox } from './open-inbox.ts';
import {
  type AddVerb,
  BY_PERSON,
  moment,
  ofTransition,
  option,
  required,
  STATE,
  upTo,
  verb,
} from './verbs.ts';

/** The revision that `show` printed: it says what the operator has seen. */
const REVISION = '--revision <revision>';
const SEEN = "what 'show' printed; the act is refused if the transition has changed since";

interface Acted extends ActionNote {
  readonly revision: string;
}

interface ActedOnMany
  extends ActionNote,
    Partial<Pick<TransitionSelection, 'state' | 'reason' | 'limit' | 'until'>> {
  readonly revision?: string;
}

/** A verb that moves one transition, or all of a selection. */
const onMany = (name: 'retry' | 'resolve', about: string): AddVerb =>
  verb<ActedOnMany, { moved: number }>({
    name,
    about,
    argument: ofTransition('[id]'),
    options: [option(REVISION, `with an id: ${SEEN}`), ...OF_MANY, ...BY_PERSON],
    async run({ revision, state, reason, limit, until, ...note }, open, transitionId) {
      const isOne = transitionId !== undefined && revision !== undefined && state === undefined;
      if (!isOne && (state === undefined || transitionId !== undefined))
        throw new ConfigurationError('which', `${name} needs an id and --revision, or --state and --until`);
      const moved = await withInbox(open, async (inbox) => {
        if (isOne) return inbox[name]({ transitionId, revision }, note);
        if (state === undefined || until === undefined) throw await untilNeeded(inbox, { state, reason });
        return inbox[name]({ state, reason, limit, until }, note);
      });
      return { moved };
    },
    format: ({ moved }) => `${moved} ${moved === 1 ? 'transition' : 'transitions'} moved.`,
  });

/** Says what would be moved, and as of when. */
async function untilNeeded<Tx>(
  inbox: Inbox<Tx>,
  { state, reason }: { readonly [Name in 'state' | 'reason']: ActedOnMany[Name] | undefined },
): Promise<ConfigurationError> {
  const { at, states, reasons } = await inbox.stats();
  const count = reason === undefined ? states[state ?? 'dead'] : (reasons[reason] ?? 0);
  return new ConfigurationError(
    'until',
    `--until is missing: it says when you looked, and what has changed since then is not moved. Nothing was moved. ${countText(count)} are ` +
      `${reason ?? state} now. To move them, add --until ${at.toISOString()}`,
  );
}

/** A verb that acts on one transition. */
const onOne = <Given extends Acted>(
  name: string,
  about: string,
  done: string,
  act: <Tx>(inbox: Inbox<Tx>, seen: SeenTransition, given: Omit<Given, 'revision'>) => Promise<void>,
  options: readonly Option[] = [],
): AddVerb =>
  verb<Given, { moved: number }>({
    name,
    about,
    argument: ofTransition('<id>'),
    options: [required(REVISION, SEEN), ...options, ...BY_PERSON],
    async run({ revision, ...given }, open, transitionId = '') {
      await withInbox(open, (inbox) => act(inbox, { transitionId, revision }, given));
      return { moved: 1 };
    },
    format: () => done,
  });

const OF_MANY: readonly Option[] = [
  STATE,
  option('--reason <reason>', 'with --state: only those with this reason'),
  option('--until <date>', 'with --state: when you looked; what has changed since is not moved', moment),
  option('--limit <number>', 'with --state: at most this many', upTo(1000)),
];
const DAYS = upTo(100_000);

interface Expected extends Omit<Expectation, 'merchant_reference' | 'transaction_type'>, Partial<ActionNote> {
  readonly reference: string;
  readonly type: string;
  readonly replace?: Settled;
}

function moneyOption(text: string): Settled {
  const [, amount, currency] = /^(\S{1,100}) (\S{1,32})$/.exec(text) ?? [];
  if (amount !== undefined && currency !== undefined) return { amount, currency };
  throw new InvalidArgumentError("It must be the money that is expected now, such as '500 UGX'.");
}

interface Pruning {
  readonly bodiesOlderThan: number;
  readonly waitingBodiesOlderThan: number;
  readonly archiveOlderThan?: number;
}

/** The acts of an operator on transitions, `forget`, `expect` and `prune`. */
export const ACTING: readonly AddVerb[] = [
  onMany('retry', 'puts transitions back to work with all attempts'),
  onMany('resolve', 'closes transitions: nothing is applied'),
  onOne<Acted & Pick<Acceptance, 'body' | 'compare'>>(
    'accept',
    'accepts a body: its amount becomes what is expected, and is applied',
    'Accepted: the next free worker applies it.',
    (inbox, seen, given) => inbox.accept(seen, given),
    [
      required('--body <digest>', "the body, as 'show' prints it"),
      option('--compare <amount>', 'which of its two amounts is right', undefined, 'both').choices(
        COMPARISONS,
      ),
    ],
  ),
  onOne<Acted>(
    'accept-text',
    'applies an expected amount that was sent as text',
    'Accepted: the next free worker applies it.',
    (inbox, seen, note) => inbox.acceptText(seen, note),
  ),
  onOne<Acted>(
    'reopen',
    'applies a transition that was closed, or that a rule holds back; never what was applied',
    'Reopened: the next free worker applies it.',
    (inbox, seen, note) => inbox.reopen(seen, note),
  ),
  onOne<Acted>(
    'apply-again',
    'applies a second time what was applied: the handler credits it once more',
    'It will be applied again: the next free worker does it.',
    (inbox, seen, note) => inbox.applyAgain(seen, note),
  ),
  verb<ActionNote, Forgotten>({
    name: 'forget',
    about: 'removes the personal data of a payment, and keeps what prevents a second one',
    argument: new Argument('<reference>', 'the merchant_reference of the payment'),
    options: BY_PERSON,
    run: (note, open, reference = '') => withInbox(open, (inbox) => inbox.forget(reference, note)),
    format: ({ transitions, bodies, archived }) =>
      `Removed the content of ${bodies} bodies, from ${transitions} transitions here and ${archived} in the archive.`,
  }),
  verb<Expected, { expected: Expectation }>({
    name: 'expect',
    about: 'states what a payment must be, and wakes the transitions that wait for that',
    options: [
      required('--reference <string>', 'the merchant_reference under which it is started'),
      required('--currency <code>', 'such as UGX'),
      required('--amount <amount>', "above zero, in the unit of the callback's amounts, such as 1999.90"),
      option('--type <type>', 'the signed transaction_type that settles it', undefined, 'COLLECTION'),
      option('--compare <amount>', 'which amount of a callback must equal it', undefined, 'both').choices(
        COMPARISONS,
      ),
      option('--deadline <date>', 'if it is not settled by then, it is overdue', moment),
      option('--replace <money>', "replace this money, as 'show' prints it: '500 UGX'", moneyOption),
      option('--by <name>', 'with --replace: who replaces it; kept with the payment'),
      option('--note <string>', 'with --replace: why; kept with the payment'),
    ],
    async run({ reference, type, currency, amount, compare, deadline, replace, by = '', note = '' }, open) {
      if (replace !== undefined && (by === '' || note === ''))
        throw new ConfigurationError('replace', '--replace changes what is credited: add --by and --note.');
      const money = { currency, amount, compare, deadline };
      const expected = { ...money, merchant_reference: reference, transaction_type: type };
      await withInbox(open, (inbox) =>
        inbox.expect(expected, { replace: replace && { ...replace, by, note } }),
      );
      return { expected };
    },
    format: () => 'Expected.',
  }),
  verb<Pruning, Pruned>({
    name: 'prune',
    about: 'removes the content of old bodies and old errors, and archives old transitions on request',
    options: [
      option('--bodies-older-than <days>', 'since their last delivery', DAYS, 90),
      option(
        '--waiting-bodies-older-than <days>',
        'the same for transitions that wait for an operator',
        DAYS,
        365,
      ),
      option('--archive-older-than <days>', 'settled and superseded ones, since their last change', DAYS),
    ],
    run({ bodiesOlderThan, waitingBodiesOlderThan, archiveOlderThan }, open) {
      const bodies = {
        bodiesOlderThanDays: bodiesOlderThan,
        waitingBodiesOlderThanDays: waitingBodiesOlderThan,
      };
      return withInbox(open, (inbox) => inbox.prune({ ...bodies, archiveOlderThanDays: archiveOlderThan }));
    },
    format: ({ bodies, archived }) =>
      `The content of ${bodies} bodies was removed, and ${archived} transitions were archived.`,
  }),
];
