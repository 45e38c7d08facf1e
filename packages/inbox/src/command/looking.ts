import { Argument, type Command } from 'commander';
import type { InboxStats, OverdueExpectation } from '../operator/health.ts';
import type { ListOptions } from '../operator/search.ts';
import type { TransitionDetails, TransitionSummary } from '../operator/views.ts';
import { NoInboxError, withInbox } from './open-inbox.ts';
import { printDetails, printList, printOverdue, printStats } from './print.ts';
import { id, moment, ofState, option, upTo, verb } from './verbs.ts';

interface Listed extends Omit<ListOptions, 'merchant_reference' | 'internal_reference'> {
  readonly reference?: string;
  readonly internalReference?: string;
}

/** `ls`, `show`, `stats` and `overdue`, which write nothing. */
export const LOOKING: readonly ((program: Command) => void)[] = [
  verb<Listed, TransitionSummary[]>({
    name: 'ls',
    about: 'lists transitions, newest first',
    options: [
      ofState('in this state'),
      option('--reason <reason>', 'with this reason, such as amount_mismatch'),
      option('--reference <string>', 'with exactly this merchant_reference'),
      option('--internal-reference <string>', 'with exactly this internal_reference'),
      option('--since <date>', 'changed at or after this time', moment),
      option('--until <date>', 'changed before this time', moment),
      option('--limit <number>', 'at most this many, up to 1000', upTo(1000), 50),
      option('--after <id>', 'the page after this transition', id),
    ],
    run(given) {
      const { state, reason, since, until, limit, after, reference, internalReference } = given;
      const references = { merchant_reference: reference, internal_reference: internalReference };
      return withInbox(given, (inbox) =>
        inbox.list({ state, reason, since, until, limit, after, ...references }),
      );
    },
    print: printList,
  }),
  verb<{ bodies?: true }, TransitionDetails>({
    name: 'show',
    about: 'shows one transition, with its bodies, its failed attempts and the actions of people',
    argument: new Argument('<id>', 'of the transition').argParser(id),
    options: [option('--bodies', 'print the content of the bodies, which holds personal data')],
    async run(given, transitionId = '') {
      const found = await withInbox(given, (inbox) => inbox.show(transitionId));
      if (found === undefined) throw new NoInboxError('No transition of this account has this id.');
      if (given.bodies) return found;
      return { ...found, bodies: found.bodies.map((body) => ({ ...body, text: undefined })) };
    },
    print: printDetails,
  }),
  verb<object, Omit<InboxStats, 'spooled'>>({
    name: 'stats',
    about: 'counts the transitions of each state and reason',
    async run(given) {
      // The spool belongs to the receiver: this verb does not open it, so it does not count it.
      const { spooled: _, ...stats } = await withInbox(given, (inbox) => inbox.stats());
      return stats;
    },
    print: printStats,
  }),
  verb<{ limit: number }, OverdueExpectation[]>({
    name: 'overdue',
    about: 'lists expectations past their deadline, longest overdue first; exit code 3 if there are any',
    options: [option('--limit <number>', 'at most this many, up to 100000', upTo(100_000), 1000)],
    run: (given) => withInbox(given, (inbox) => inbox.overdue({ limit: given.limit })),
    print: printOverdue,
    needsPerson: (overdue) => overdue.length > 0,
  }),
];
