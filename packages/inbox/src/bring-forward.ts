import type { Settings } from './settings.ts';
import type { StoreEngine } from './store.ts';

/** No transition is put off for longer than this beyond its delay; also what clocks may differ. */
const ALLOWANCE_MS = 60_000;

/**
 * Makes due what a clock that was ahead has put off, of a receiver or of this machine before it was set right: a payment
 * that came then would wait until that time.
 */
export async function bringForward<Tx>(engine: StoreEngine<Tx>, settings: Settings): Promise<void> {
  const now = settings.now();
  const latest = now + ALLOWANCE_MS;
  const isTooLate = `account = $1 and state in ('pending', 'retrying') and next_at > $2
    and (state = 'pending' or next_at > $3)`;
  const values = [settings.account, latest, latest + settings.retry.longestDelayMs];
  const { transition } = engine.tables;
  const found = await engine.briefSession.query(
    `select 1 as late from ${transition} where ${isTooLate} limit 1`,
    values,
  );
  if (found.rows.length === 0) return;
  await engine.transaction((session) =>
    session.query(`update ${transition} set next_at = $4 where ${isTooLate}`, [...values, now]),
  );
}
