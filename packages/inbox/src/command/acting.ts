import { ConfigurationError } from '@payment-service/core';
import { Argument, type Option } from 'commander';
import type { ActionNote, TransitionSelection } from '../operator/actions.ts';
import type { Forgotten } from '../operator/forget.ts';
import type { Pruned } from '../operator/prune.ts';
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

interface Acted extends ActionNote, Partial<Pick<TransitionSelection, 'state' | 'reason' | 'limit'>> {
  readonly body?: string;
}

/** A verb that moves a transition, or all of a selection. */
const action = (name: 'retry' | 'resolve' | 'reopen', about: string, options: readonly Option[]): AddVerb =>
  verb<Acted, { moved: number }>({
    name,
    about,
    argument: ofTransition('[id]'),
    options: [...options, ...BY_PERSON],
    async run({ state, reason, limit, ...given }, open, transitionId) {
      const selected = state && { state, reason, limit };
      const which = transitionId ?? selected;
      if (which === undefined || (transitionId !== undefined && selected !== undefined)) {
        const many = name === 'reopen' ? '' : ', or --state';
        throw new ConfigurationError('which', `${name} needs an id${many}`);
      }
      const moved = await withInbox(open, (inbox) =>
        name === 'reopen' ? inbox.reopen(String(which), given).then(() => 1) : inbox[name](which, given),
      );
      return { moved };
    },
    format: ({ moved }) => `${moved} ${moved === 1 ? 'transition' : 'transitions'} moved.`,
  });

const OF_MANY: readonly Option[] = [
  STATE,
  option('--reason <reason>', 'with --state: only those with this reason'),
  option('--limit <number>', 'with --state: at most this many', upTo(1000)),
];
const BODY = option('--body <digest>', 'accept and apply this body, if no expectation is known');
const DAYS = upTo(100_000);

interface Expected extends Omit<Expectation, 'merchant_reference' | 'transaction_type'> {
  readonly reference: string;
  readonly type: string;
  readonly replace?: true;
}

interface Pruning {
  readonly bodiesOlderThan: number;
  readonly waitingBodiesOlderThan: number;
  readonly archiveOlderThan?: number;
}

/** `retry`, `resolve`, `reopen`, `accept-text`, `forget`, `expect` and `prune`. */
export const ACTING: readonly AddVerb[] = [
  action('retry', 'puts transitions back to work with all attempts', OF_MANY),
  action('resolve', 'closes transitions, or accepts a body', [...OF_MANY, BODY]),
  action('reopen', 'applies a closed transition once more', []),
  verb<ActionNote, { moved: number }>({
    name: 'accept-text',
    about: 'applies an expected amount that was sent as text',
    argument: ofTransition('<id>'),
    options: BY_PERSON,
    async run(note, open, transitionId = '') {
      await withInbox(open, (inbox) => inbox.acceptText(transitionId, note));
      return { moved: 1 };
    },
    format: () => 'Accepted: the next free worker applies it.',
  }),
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
      option('--replace', 'replace another amount that is expected under this reference'),
    ],
    async run({ reference, type, currency, amount, compare, deadline, replace }, open) {
      const money = { currency, amount, compare, deadline };
      const expected = { ...money, merchant_reference: reference, transaction_type: type };
      await withInbox(open, (inbox) => inbox.expect(expected, { replace }));
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
