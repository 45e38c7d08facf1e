import { type Command, Option } from 'commander';
import type { TransitionSelection } from '../operator/actions.ts';
import { TRANSITION_STATES, type TransitionReason, type TransitionState } from '../states.ts';
import type { Comparison } from '../work/evaluate.ts';
import { COMPARISONS } from '../work/stored.ts';
import type { OperatedInbox } from './open-inbox.ts';
import { id, moment, upTo, type Verbs } from './verbs.ts';

interface Acted {
  readonly state?: TransitionState;
  readonly reason?: TransitionReason;
  readonly limit?: number;
  readonly by: string;
  readonly note: string;
  readonly body?: string;
}
type Action = (inbox: OperatedInbox, which: string | TransitionSelection, given: Acted) => Promise<number>;

interface Expected {
  readonly reference: string;
  readonly currency: string;
  readonly amount: string;
  readonly type: string;
  readonly compare: Comparison;
  readonly deadline?: Date;
  readonly replace?: true;
}

interface Pruning {
  readonly bodiesOlderThan: number;
  readonly waitingBodiesOlderThan: number;
  readonly archiveOlderThan?: number;
}

/** `retry`, `resolve` and `reopen`, which need `--by` and `--note`; `expect`; and `prune`. */
export function addActing(verbs: Verbs): void {
  const { program, use } = verbs;
  const action = (name: string, description: string, act: Action): Command =>
    program
      .command(name)
      .description(description)
      .argument('[id]', 'of the transition', id)
      .requiredOption('--by <name>', 'who acts; kept with the transition')
      .requiredOption('--note <text>', 'why; kept with the transition')
      .action(async (transitionId: string | undefined, given: Acted, command: Command) => {
        const { state, reason, limit } = given;
        const selected = state && { state, reason, limit };
        const which = transitionId ?? selected;
        if (which === undefined || (transitionId && selected)) {
          return command.error(`error: ${name} takes an id${name === 'reopen' ? '' : ', or --state'}`);
        }
        const moved = await use((inbox) => act(inbox, which, given));
        verbs.tell({ moved }, () =>
          console.log(`${moved} ${moved === 1 ? 'transition' : 'transitions'} moved.`),
        );
      });
  const many = (command: Command): Command =>
    command
      .addOption(new Option('--state <state>', 'in this state').choices(TRANSITION_STATES))
      .option('--reason <reason>', 'with --state: only those with this reason')
      .option('--limit <number>', 'with --state: at most this many', upTo(1000));

  many(
    action('retry', 'puts transitions back to work with all attempts', (inbox, which, { by, note }) =>
      inbox.retry(which, { by, note }),
    ),
  );
  many(
    action('resolve', 'closes transitions, or accepts a body', (inbox, which, { by, note, body }) =>
      inbox.resolve(which, { by, note, body }),
    ),
  ).option('--body <digest>', 'accept this body, when no expectation is known, and have it applied');
  action('reopen', 'has a closed transition applied once more', async (inbox, which, { by, note }) => {
    if (typeof which === 'string') await inbox.reopen(which, { by, note });
    return 1;
  });
  program
    .command('expect')
    .description('says what a payment must be, and wakes what waits for that')
    .requiredOption('--reference <text>', 'the merchant_reference under which it is started')
    .requiredOption('--currency <code>', 'such as UGX')
    .requiredOption('--amount <amount>', "above zero, in the unit of the callback's amounts, such as 1999.90")
    .option('--type <type>', 'the signed transaction_type that settles it', 'COLLECTION')
    .addOption(
      new Option('--compare <amount>', 'which amount of a callback must equal it')
        .choices(COMPARISONS)
        .default('both'),
    )
    .option('--deadline <date>', 'unsettled after it, it is overdue', moment)
    .option('--replace', 'in place of another amount that is expected under this reference')
    .action(async ({ reference, type, replace, ...rest }: Expected) => {
      const expectation = { ...rest, merchant_reference: reference, transaction_type: type };
      await use((inbox) => inbox.expect(expectation, { replace }));
      verbs.tell({ expected: expectation }, () => console.log('Expected.'));
    });
  program
    .command('prune')
    .description(
      'removes the text of old bodies, and moves old transitions into the archive if that is asked for',
    )
    .option('--bodies-older-than <days>', 'since their last delivery', upTo(100_000), 90)
    .option(
      '--archive-older-than <days>',
      'what is settled or superseded, since its last change',
      upTo(100_000),
    )
    .action(async ({ bodiesOlderThan, waitingBodiesOlderThan, archiveOlderThan }: Pruning) => {
      const ages = {
        bodiesOlderThanDays: bodiesOlderThan,
        waitingBodiesOlderThanDays: waitingBodiesOlderThan,
        archiveOlderThanDays: archiveOlderThan,
      };
      verbs.tell(await use((inbox) => inbox.prune(ages)), ({ bodies, archived }) =>
        console.log(`The text of ${bodies} bodies was removed, and ${archived} transitions were archived.`),
      );
    });
}
