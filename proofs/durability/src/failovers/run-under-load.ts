import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ManagedProcess, type ProcessParts } from '../crashes/managed-process.ts';
import type { ReceiverSettings } from '../crashes/receiver-process.ts';
import type { WorkerSettings } from '../crashes/worker-process.ts';
import { judgeHistory, type Request, type Verdict } from '../history/judge-history.ts';
import { Load, readRequests } from '../history/load.ts';
import { drained, EFFECT_TABLE, type Read, readRemains } from '../history/remains.ts';
import { caughtResult, verdictResults } from '../history/results.ts';
import { withClient } from '../load/postgres.ts';
import { atTheEnd, makeFolder, stopped } from '../measure/program.ts';
import { judge, type Result } from '../measure/results.ts';
import { stuckWatch } from '../measure/until.ts';

/** The environment of the rounds. */
export interface Ground {
  readonly url: string;
  /** The address of the server that leads at the end, for reading without the inbox. */
  readonly adminUrl: string;
  /** The average pause after each payment. */
  readonly pauseMs: number;
  readonly rounds: number;
  /** Throws if the database cannot continue. */
  readonly check?: () => void;
}

/** What a round can observe. */
export interface Watch {
  readonly load: Load;
  /** Resolves when this many more payments are acknowledged. */
  acknowledged(count: number): Promise<void>;
  /** Resolves at a moment when callbacks are under way, with their number. */
  underWay(): Promise<number>;
}

/** The outcome of rounds under load. */
export interface Outcome<Round> {
  readonly rounds: readonly Round[];
  readonly verdict: Verdict;
  readonly states: Readonly<Record<string, number>>;
  /** The codes of the warnings that the inboxes gave. */
  readonly warnings: readonly string[];
  readonly seconds: number;
}

/** Plays rounds while the merchant's programs receive and work, waits until they are done, and judges the history. */
export async function runUnderLoad<Round>(
  { url, adminUrl, pauseMs, rounds: wanted, check }: Ground,
  play: (watch: Watch, index: number) => Promise<Round>,
): Promise<{ readonly outcome: Outcome<Round>; readonly requests: readonly Request[] }> {
  const started = performance.now();
  await withClient(url, (client) => client.query(EFFECT_TABLE));
  const folder = await makeFolder();
  const failed = new AbortController();
  const programs = merchantPrograms(url, { folder, onFailure: (error) => failed.abort(error) });
  atTheEnd(() => Promise.all(programs.map((program) => program.kill())));
  for (const program of programs) program.start();
  for (; !programs.every(({ isReady }) => isReady); await wait(20)) failed.signal.throwIfAborted();
  const record = join(folder, 'history');
  const load = new Load({
    addresses: () => programs.flatMap(({ address }) => address ?? []),
    record,
    seed: randomInt(1_000_000),
    atOnce: 16,
    firstDelayMs: 10,
    pauseMs,
    repeats: { every: 4, later: 0 },
  });
  load.limit = Number.POSITIVE_INFINITY;
  const watch: Watch = {
    load,
    async acknowledged(count) {
      const enough = load.acknowledged + count;
      const stuck = stuckWatch();
      while (load.acknowledged < enough) {
        stopped.throwIfAborted();
        // No failover may end any of the programs.
        failed.signal.throwIfAborted();
        check?.();
        stuck(`${load.acknowledged} payments acknowledged`);
        await wait(10);
      }
    },
    async underWay() {
      for (let turn = 0; load.underWay === 0 && turn < 1000; turn++) await wait(1);
      return load.underWay;
    },
  };
  const rounds: Round[] = [];
  for (let index = 0; index < wanted; index++) rounds.push(await play(watch, index));
  await load.stop();
  const { states, ...remains } = await withClient(adminUrl, async (client) => {
    const read: Read = async (statement) => (await client.query(statement)).rows;
    await drained(read);
    return readRemains(read, 'payment_inbox.');
  });
  const requests = await readRequests(record);
  const verdict = judgeHistory({ requests, ...remains });
  const seconds = Math.round((performance.now() - started) / 1000);
  const warnings = programs.flatMap((program) => program.warnings);
  return { outcome: { rounds, verdict, states, warnings, seconds }, requests };
}

/** The merchant's programs, the same as in the crash test: two receivers and two workers. */
function merchantPrograms(url: string, parts: ProcessParts): readonly ManagedProcess[] {
  const database = { store: 'postgres', url } as const;
  const receiver: ReceiverSettings = { database, spool: undefined };
  const worker: WorkerSettings = { database, isControl: false, isDraining: false };
  return [0, 1].flatMap(() => [
    new ManagedProcess('receiver', receiver, parts),
    new ManagedProcess('worker', worker, parts),
  ]);
}

/** For every kind of failover: with a synchronous standby nothing is lost, and without one the control loses callbacks. */
export function judgeLosses(
  synchronous: Outcome<unknown>,
  control: Outcome<unknown>,
  rounds: number,
): readonly Result[] {
  return [
    ...verdictResults(synchronous.verdict, 100 * rounds),
    judge('warnings at the start', 'programs', synchronous.warnings.length, 'exactly', 0),
    caughtResult('asynchronous', control.verdict, 'lost'),
    caughtResult('asynchronous', control.verdict, 'dropped'),
    judge('control, asynchronous: warnings at the start', 'programs', control.warnings.length, 'at least', 1),
  ];
}
