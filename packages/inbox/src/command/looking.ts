import { type InboxStats, listOverdue, type OverdueExpectation, readStats } from '../operator/health.ts';
import { type InboxHistory, readHistory } from '../operator/history.ts';
import type { ListOptions } from '../operator/search.ts';
import {
  listTransitions,
  showTransition,
  type TransitionDetails,
  type TransitionSummary,
} from '../operator/views.ts';
import { formatDetails, formatList, formatOverdue, formatStats } from './format.ts';
import { NoInboxError, withTables } from './open-inbox.ts';
import { type AddVerb, id, moment, ofTransition, option, STATE, upTo, verb } from './verbs.ts';

interface Listed extends Omit<ListOptions, 'merchant_reference' | 'internal_reference'> {
  readonly reference?: string;
  readonly internalReference?: string;
}

/** `ls`, `show`, `stats` and `overdue`, which write nothing. */
export const LOOKING: readonly AddVerb[] = [
  verb<Listed, TransitionSummary[]>({
    name: 'ls',
    about: 'lists transitions, newest first',
    options: [
      STATE,
      option('--reason <reason>', 'with this reason, such as amount_mismatch'),
      option('--reference <string>', 'with exactly this merchant_reference'),
      option('--internal-reference <string>', 'with exactly this internal_reference'),
      option('--since <date>', 'changed at or after this time', moment),
      option('--until <date>', 'changed before this time', moment),
      option('--limit <number>', 'at most this many, up to 1000', upTo(1000), 50),
      option('--after <id>', 'the page after this transition', id),
    ],
    run({ reference, internalReference, ...others }, open) {
      const references = { merchant_reference: reference, internal_reference: internalReference };
      return withTables(open, (opened) => listTransitions(opened, { ...others, ...references }));
    },
    format: formatList,
  }),
  verb<{ bodies?: true }, TransitionDetails>({
    name: 'show',
    about: 'shows one transition, with its bodies, its failed attempts and the actions of operators',
    argument: ofTransition('<id>'),
    options: [option('--bodies', 'print the content of the bodies, which holds personal data')],
    async run({ bodies }, open, transitionId = '') {
      const found = await withTables(open, (opened) => showTransition(opened, transitionId));
      if (found === undefined) throw new NoInboxError('No transition of this account has this id.');
      return bodies
        ? found
        : { ...found, bodies: found.bodies.map((body) => ({ ...body, text: undefined })) };
    },
    format: formatDetails,
  }),
  verb<
    { days?: number },
    Omit<InboxStats, 'spooled'> & Partial<Pick<InboxHistory, 'from' | 'to' | 'settled'>>
  >({
    name: 'stats',
    about: 'counts the transitions of each state and reason',
    options: [
      option('--days <number>', 'also what was settled on each of the last days, up to 31', upTo(31)),
    ],
    run: ({ days }, open) =>
      withTables(open, async (opened) => {
        // The spool belongs to the receiver: this verb does not open it, so it does not count it.
        const { spooled: _, ...stats } = await readStats(opened);
        if (days === undefined) return stats;
        const { from, to, settled } = await readHistory(opened, { days });
        return { ...stats, from, to, settled };
      }),
    format: formatStats,
  }),
  verb<{ limit: number }, OverdueExpectation[]>({
    name: 'overdue',
    about: 'lists expectations past their deadline, longest overdue first; exit code 3 if there are any',
    options: [option('--limit <number>', 'at most this many, up to 100000', upTo(100_000), 1000)],
    run: (own, open) => withTables(open, (opened) => listOverdue(opened, own)),
    format: formatOverdue,
    needsPerson: (overdue) => overdue.length > 0,
  }),
];
