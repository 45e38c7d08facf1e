import { Option } from 'commander';
import { TRANSITION_STATES, type TransitionReason, type TransitionState } from '../states.ts';
import { NoInboxError } from './open-inbox.ts';
import { printDetails, printList, printOverdue, printStats } from './print.ts';
import { id, moment, upTo, type Verbs } from './verbs.ts';

interface Listed {
  readonly state?: TransitionState;
  readonly reason?: TransitionReason;
  readonly limit?: number;
  readonly reference?: string;
  readonly internalReference?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly after?: string;
}

/** `ls`, `show`, `stats` and `overdue`, which write nothing. */
export function addLooking(verbs: Verbs): void {
  const { program, use } = verbs;
  program
    .command('ls')
    .description('lists transitions, the newest first')
    .addOption(new Option('--state <state>', 'in this state').choices(TRANSITION_STATES))
    .option('--reason <reason>', 'with this reason, such as amount_mismatch')
    .option('--reference <text>', 'with exactly this merchant_reference')
    .option('--internal-reference <text>', 'with exactly this internal_reference; reads every transition')
    .option('--since <date>', 'changed at or after it', moment)
    .option('--until <date>', 'changed before it', moment)
    .option('--limit <number>', 'at most this many, up to 1000', upTo(1000), 50)
    .option('--after <id>', 'the page after this transition', id)
    .action(async ({ reference, internalReference, ...rest }: Listed) => {
      const options = { ...rest, merchant_reference: reference, internal_reference: internalReference };
      verbs.tell(await use((inbox) => inbox.list(options)), printList);
    });
  program
    .command('show')
    .description('shows one transition, with its bodies and what people did')
    .argument('<id>', 'of the transition', id)
    .option('--bodies', 'print the text of the bodies, which holds personal data')
    .action(async (transitionId: string, { bodies = false }: { bodies?: boolean }) => {
      const found = await use((inbox) => inbox.show(transitionId));
      if (found === undefined) throw new NoInboxError('No transition of this account has this id.');
      const shown = bodies
        ? found
        : { ...found, bodies: found.bodies.map(({ text: _, ...body }) => ({ ...body, text: undefined })) };
      verbs.tell(shown, printDetails);
    });
  program
    .command('stats')
    .description('counts the transitions of each state and reason')
    .action(async () => {
      // The spool is the receiver's: this verb does not open it, and so does not count it.
      const { spooled: _, ...stats } = await use((inbox) => inbox.stats());
      verbs.tell(stats, printStats);
    });
  program
    .command('overdue')
    .description(
      'lists expectations past their deadline, the longest overdue first; exit code 3 if there are any',
    )
    .option('--limit <number>', 'at most this many, up to 100000', upTo(100_000), 1000)
    .action(async ({ limit }: { limit: number }) => {
      const overdue = await use((inbox) => inbox.overdue({ limit }));
      verbs.tell(overdue, printOverdue);
      verbs.needsAttention(overdue.length > 0);
    });
}
