import { numberOf } from '../store/store.ts';
import type { WorkContext } from './attempt/turn.ts';

/** The next retry makes up for a smaller step. Statements of several connections may also be milliseconds apart. */
const MIN_STEP_MS = 1000;

/**
 * Times are those of the database's clock. When it steps back, everything that waits would wait longer by that step, so it is
 * brought forward by as much, once for all processes.
 *
 * @returns by how much the clock stepped back, in milliseconds; 0 if it did not.
 */
export async function followClock<Tx>({
  statements,
  settings,
}: Pick<WorkContext<Tx>, 'statements' | 'settings'>): Promise<number> {
  const { account, storeTimeoutMs } = settings;
  const [beat = {}] = await statements.run('beat', [account], undefined, storeTimeoutMs);
  if (numberOf(beat, 'ahead') < MIN_STEP_MS) return 0;
  return statements.limited(storeTimeoutMs, async (tx) => {
    const [pulse = {}] = await statements.run('lock_pulse', [account], tx);
    const ahead = numberOf(pulse, 'ahead');
    // Another process was faster.
    if (ahead < MIN_STEP_MS) return 0;
    await statements.run('bring_forward', [account, ahead], tx);
    await statements.run('reset_pulse', [account], tx);
    return ahead;
  });
}
