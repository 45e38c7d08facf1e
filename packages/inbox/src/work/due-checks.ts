import { type Finding, problem } from '../reporting/finding.ts';
import { numberOf } from '../store/store.ts';
import type { WorkContext } from './attempt/attempt-stages.ts';
import { findPutOff } from './put-off.ts';

type Context<Tx> = Pick<WorkContext<Tx>, 'store' | 'statements' | 'settings'>;

/** By default, a report that has been due for longer than this is late. */
export const LATE_SECONDS = 60;

/** What shows whether someone works on what is due. */
export interface DueFacts {
  readonly oldestSeconds: number;
  /** How many reports a clock has put off. */
  readonly putOff: number;
  /** A worker of any process listens. Only PostgreSQL shows that, and it is read only if something is due. */
  readonly isHeard: boolean;
}

export async function readDue<Tx>(context: Context<Tx>): Promise<DueFacts> {
  const oldestSeconds = await oldestDueSeconds(context);
  const putOff = (await findPutOff(context)).length;
  return { oldestSeconds, putOff, isHeard: oldestSeconds > 0 && (await isHeard(context)) };
}

/** Counted from the moment at which it became due: a report that waits for its next attempt is not late. */
export async function oldestDueSeconds<Tx>({
  statements,
  settings,
}: Pick<Context<Tx>, 'statements' | 'settings'>): Promise<number> {
  const [row = {}] = await statements.run('oldest_due', [settings.account]);
  return Math.max(0, numberOf(row, 'late') / 1000);
}

async function isHeard<Tx>({ store, statements }: Context<Tx>): Promise<boolean> {
  const [row] = store.dialect === 'sqlite' ? [] : await statements.run('count_listeners', []);
  return row !== undefined && numberOf(row, 'listeners') > 0;
}

const SLOW = 'Probably handlers are slow or hang: see the log of the worker, or raise its concurrency.';
const NONE = 'Probably no process runs inbox.work() for this account: start one, or call drain() more often.';

/** For doctor, for health(), and for a process that keeps callbacks and does not work. */
export function* checkDue(
  { oldestSeconds, putOff, isHeard }: DueFacts,
  maxSeconds: number = LATE_SECONDS,
): Generator<Finding> {
  if (oldestSeconds > maxSeconds)
    yield problem`worker: A report has been due for ${Math.floor(oldestSeconds)} seconds. ${isHeard ? 'A' : 'No'} worker was seen listening.
        Only a worker applies what is due: until then, no order is paid.
        ${isHeard ? SLOW : NONE}`;
  if (putOff > 0)
    yield problem`clock: The next attempt of ${putOff} reports is later than any rule allows.
        The clock of the database was ahead when they were written: until they are due, their orders are not paid.
        A worker makes them due within ten polls, and drain() before its pass: start one, and correct the clock if it is still wrong.`;
}
