import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { EFFECT_TABLE } from '../history/effects.ts';
import { judgeHistory, type Request, type Verdict } from '../history/judge-history.ts';
import { drained, readRemains } from '../history/postgres-remains.ts';
import { readRequests } from '../history/record.ts';
import { withClient } from '../load/postgres.ts';
import { atTheEnd, makeFolder } from '../measure/program.ts';
import { Load } from './load.ts';
import { Merchant } from './merchant.ts';

/** What a round can look at. */
export interface Watch {
  readonly load: Load;
  readonly merchant: Merchant;
}

/** What rounds under load left. */
export interface Outcome<Round> {
  readonly rounds: readonly Round[];
  readonly verdict: Verdict;
  readonly states: Readonly<Record<string, number>>;
  /** Codes of the warnings that the inboxes gave. */
  readonly warnings: readonly string[];
  readonly seconds: number;
}

/**
 * Plays rounds while the merchant's programs receive and work, waits until they are done, and judges the history.
 *
 * @param database.adminUrl of whichever server leads at the end, for a look past the inbox.
 */
export async function runUnderLoad<Round>(
  database: { readonly url: string; readonly adminUrl: string },
  pauseMs: number,
  play: (watch: Watch) => Promise<readonly Round[]>,
): Promise<{ readonly outcome: Outcome<Round>; readonly requests: readonly Request[] }> {
  const started = performance.now();
  await withClient(database.url, (client) => client.query(EFFECT_TABLE));
  const folder = await makeFolder();
  const merchant = await Merchant.start(database.url, folder);
  atTheEnd(() => merchant.end());
  const record = join(folder, 'history');
  const { addresses } = merchant;
  const load = new Load({ addresses, record, seed: randomInt(1_000_000), pauseMs });
  const rounds = await play({ load, merchant });
  await load.stop();
  const { states, ...remains } = await withClient(database.adminUrl, async (client) => {
    await drained(client);
    return readRemains(client);
  });
  const requests = await readRequests(record);
  const verdict = judgeHistory({ requests, ...remains });
  const seconds = Math.round((performance.now() - started) / 1000);
  return { outcome: { rounds, verdict, states, warnings: merchant.warnings, seconds }, requests };
}
