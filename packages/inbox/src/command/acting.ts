import { ConfigurationError } from '@payment-service/core';
import { Argument, type Command, type Option } from 'commander';
import type { ActionNote, TransitionSelection } from '../operator/actions.ts';
import type { Forgotten } from '../operator/forget.ts';
import type { Pruned } from '../operator/prune.ts';
import type { Expectation } from '../work/verdict/expectation.ts';
import { COMPARISONS } from '../work/verdict/stored.ts';
import { type OperatedInbox, withInbox } from './open-inbox.ts';
import { BY_PERSON, id, moment, ofState, option, upTo, verb } from './verbs.ts';

interface Acted extends ActionNote, Partial<Pick<TransitionSelection, 'state' | 'reason' | 'limit'>> {
  readonly body?: string;
}
type Act = (inbox: OperatedInbox, which: string | TransitionSelection, given: Acted) => Promise<number>;

/** A verb that moves a transition, or all of a selection. */
const action = (name: string, about: string, options: readonly Option[], act: Act) =>
  verb<Acted, { moved: number }>({
    name,
    about,
    argument: new Argument('[id]', 'of the transition').argParser(id),
    options: [...options, ...BY_PERSON],
    async run(given, transitionId) {
      const { state, reason, limit } = given;
      const selected = state && { state, reason, limit };
      const which = transitionId ?? selected;
      if (which === undefined || (transitionId !== undefined && selected !== undefined)) {
        const many = name === 'reopen' ? '' : ', or --state';
        throw new ConfigurationError('which', `${name} needs an id${many}`);
      }
      return { moved: await withInbox(given, (inbox) => act(inbox, which, given)) };
    },
    print: ({ moved }) => console.log(`${moved} ${moved === 1 ? 'transition' : 'transitions'} moved.`),
  });

const ofMany = (): Option[] => [
  ofState('in this state'),
  option('--reason <reason>', 'with --state: only those with this reason'),
  option('--limit <number>', 'with --state: at most this many', upTo(1000)),
];
const BODY = option('--body <digest>', 'accept and apply this body, if no expectation is known');

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

/** `retry`, `resolve`, `reopen`, `forget`, `expect` and `prune`. */
export const ACTING: readonly ((program: Command) => void)[] = [
  action('retry', 'puts transitions back to work with all attempts', ofMany(), (inbox, which, { by, note }) =>
    inbox.retry(which, { by, note }),
  ),
  action(
    'resolve',
    'closes transitions, or accepts a body',
    [...ofMany(), BODY],
    (inbox, which, { by, note, body }) => inbox.resolve(which, { by, note, body }),
  ),
  action('reopen', 'applies a closed transition once more', [], async (inbox, which, { by, note }) => {
    if (typeof which === 'string') await inbox.reopen(which, { by, note });
    return 1;
  }),
  verb<ActionNote, Forgotten>({
    name: 'forget',
    about: 'removes the personal data of a payment, and keeps what prevents a second one',
    argument: new Argument('<reference>', 'the merchant_reference of the payment'),
    options: BY_PERSON,
    run: (given, reference = '') =>
      withInbox(given, (inbox) => inbox.forget(reference, { by: given.by, note: given.note })),
    print: ({ transitions, bodies, archived }) =>
      console.log(
        `Removed the content of ${bodies} bodies, from ${transitions} transitions here and ${archived} in the archive.`,
      ),
  }),
  verb<Expected, { expected: Expectation }>({
    name: 'expect',
    about: 'states what a payment must be, and wakes the transitions that wait for that',
    options: [
      option(
        '--reference <string>',
        'the merchant_reference under which it is started',
      ).makeOptionMandatory(),
      option('--currency <code>', 'such as UGX').makeOptionMandatory(),
      option(
        '--amount <amount>',
        "above zero, in the unit of the callback's amounts, such as 1999.90",
      ).makeOptionMandatory(),
      option('--type <type>', 'the signed transaction_type that settles it', undefined, 'COLLECTION'),
      option('--compare <amount>', 'which amount of a callback must equal it', undefined, 'both').choices(
        COMPARISONS,
      ),
      option('--deadline <date>', 'if it is not settled by then, it is overdue', moment),
      option('--replace', 'replace another amount that is expected under this reference'),
    ],
    async run(given) {
      const { reference, type, currency, amount, compare, deadline, replace } = given;
      const money = { currency, amount, compare, deadline };
      const expected = { ...money, merchant_reference: reference, transaction_type: type };
      await withInbox(given, (inbox) => inbox.expect(expected, { replace }));
      return { expected };
    },
    print: () => console.log('Expected.'),
  }),
  verb<Pruning, Pruned>({
    name: 'prune',
    about: 'removes the content of old bodies and old errors, and archives old transitions on request',
    options: [
      option('--bodies-older-than <days>', 'since their last delivery', upTo(100_000), 90),
      option(
        '--waiting-bodies-older-than <days>',
        'the same for transitions that wait for a person',
        upTo(100_000),
        365,
      ),
      option(
        '--archive-older-than <days>',
        'settled and superseded ones, since their last change',
        upTo(100_000),
      ),
    ],
    run: (given) =>
      withInbox(given, (inbox) =>
        inbox.prune({
          bodiesOlderThanDays: given.bodiesOlderThan,
          waitingBodiesOlderThanDays: given.waitingBodiesOlderThan,
          archiveOlderThanDays: given.archiveOlderThan,
        }),
      ),
    print: ({ bodies, archived }) =>
      console.log(`The content of ${bodies} bodies was removed, and ${archived} transitions were archived.`),
  }),
];
