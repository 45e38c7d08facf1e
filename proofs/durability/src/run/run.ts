import { join } from 'node:path';
import type { Inbox } from '@payment-service/inbox';
import { FAULTS, type Fault, judgeHistory, type Request, type Verdict } from '../history/judge-history.ts';
import { Load } from '../history/load.ts';
import { EFFECT_TABLE, OPEN, PREFIX, readRemains } from '../history/remains.ts';
import { atTheEnd, makeFolder, stopped } from '../measure/program.ts';
import { judge, type Result } from '../measure/results.ts';
import { figure, type Table } from '../measure/tables.ts';
import { until } from '../measure/until.ts';
import { ManagedProcess, ofRole } from '../merchant/managed-process.ts';
import { openInbox, type Transaction } from '../merchant/merchant.ts';
import type { Topology } from '../topology/topology.ts';

export interface RunOptions {
  readonly topology: Topology;
  readonly seed: number;
  /** Whether effects are written outside the transaction. */
  readonly isControl?: boolean;
  /** The average pause after each payment. @default 0 */
  readonly pauseMs?: number;
}

/** A run, as seen by the code that injects faults. */
export interface Running {
  readonly load: Load;
  /** Two receivers, of which one has a spool if there is a server that can be down, and two workers. */
  readonly processes: readonly ManagedProcess[];
  /** Aborted when a program fails without having been killed. */
  readonly signal: AbortSignal;
  /** Waits for something that the load brings about. */
  reach(isThere: () => boolean): Promise<unknown>;
}

export interface Outcome {
  readonly verdict: Verdict;
  /** Payments that were sent. */
  readonly payments: number;
  /** The codes of the warnings that the merchant's programs printed. */
  readonly warnings: readonly string[];
  readonly seconds: number;
}

/** No transition is left out because of its time. */
const ANY_TIME = new Date(8.64e15);
const NOTE = { by: 'durability', note: 'the process was killed, the handler is sound' };

/**
 * One whole run: starts two receivers and two workers, sends the load, lets `play` strike, waits until everything is settled,
 * and judges what is left.
 */
export async function run(
  { topology, seed, isControl = false, pauseMs }: RunOptions,
  play: (running: Running) => Promise<void>,
): Promise<{ readonly outcome: Outcome; readonly requests: readonly Request[] }> {
  const started = performance.now();
  const failed = new AbortController();
  const signal = AbortSignal.any([stopped, failed.signal]);
  const { database, faults, read } = topology;
  const folder = await makeFolder();
  const [outside, spool] = [join(folder, 'outside'), join(folder, 'spool')];
  const parts = { folder, onFailure: (error: Error) => failed.abort(error) };
  const processes = [
    { role: 'receiver', database, spool: faults.length > 0 ? spool : undefined } as const,
    { role: 'worker', database, outside: isControl ? outside : undefined } as const,
    { role: 'receiver', database } as const,
    { role: 'worker', database, outside: isControl ? outside : undefined, isDraining: true } as const,
  ].map((settings) => new ManagedProcess(settings, parts));
  // The tables exist before anything is killed.
  await read(EFFECT_TABLE);
  await operate((inbox) => inbox.ready());
  for (const one of processes) one.start();
  const addresses = () => processes.flatMap(({ address }) => address ?? []);
  const load = new Load({ addresses, record: join(folder, 'history'), seed, pauseMs });
  const reach: Running['reach'] = (isThere) => {
    const look = (): boolean => {
      topology.check?.();
      return isThere();
    };
    const sent = (): string => `${load.begun} payments begun, ${load.acknowledged} acknowledged`;
    return until(sent, look, { everyMs: 5, signal });
  };
  const playing = toTheEnd();
  // Once nothing is started any more.
  atTheEnd(async () => {
    failed.abort(new Error('The run has ended.'));
    await Promise.allSettled([playing]);
    await Promise.all(processes.map((one) => one.kill()));
  });
  await playing;
  await operate(settle);
  for (const worker of ofRole(processes, 'worker')) await worker.end();
  const seconds = Math.round((performance.now() - started) / 1000);
  const requests = load.requests();
  const remains = await readRemains(read, PREFIX[database.store], outside);
  const verdict = judgeHistory({ requests, ...remains });
  const warnings = processes.flatMap((one) => one.warnings);
  return { outcome: { verdict, payments: load.begun, warnings, seconds }, requests };

  async function operate<T>(use: (inbox: Inbox<Transaction>) => Promise<T>): Promise<T> {
    const inbox = openInbox(database);
    const found = await use(inbox);
    await inbox.close();
    return found;
  }

  async function toTheEnd(): Promise<void> {
    await reach(() => processes.every(({ isReady }) => isReady));
    await play({ load, processes, signal, reach });
    load.isEnding = true;
    await reach(() => load.isDone);
  }

  /**
   * Waits until every spool is drained and every transition has its final state, and does what an operator would do with
   * transitions whose handlers died three times: sends them back to the workers.
   */
  async function settle(inbox: Inbox<Transaction>): Promise<void> {
    let state = '';
    const look = async (): Promise<boolean> => {
      const { done: looped } = await inbox.actAll('retry', { reason: 'crash_loop', until: ANY_TIME }, NOTE);
      const spooled = await Promise.all(ofRole(processes, 'receiver').map(spooledBy));
      const [row] = await read(`select count(*) as n from ${PREFIX[database.store]}transition where ${OPEN}`);
      state = `${row?.['n']} open, ${spooled} spooled, ${looped} sent back`;
      return looped === 0 && Number(row?.['n']) === 0 && spooled.every((count) => count === 0);
    };
    await until(() => state, look, { everyMs: 100, signal });
  }
}

async function spooledBy({ address }: ManagedProcess): Promise<number | undefined> {
  if (address === undefined) return undefined;
  const response = await fetch(`${address}/spooled`).catch(() => undefined);
  return response?.status === 200 ? Number(await response.text()) : undefined;
}

/** Every fault, none of which a run may have. @param least the minimum number of due payments. */
export function verdictResults(verdict: Verdict, least: number): readonly Result[] {
  const faults = Object.entries(FAULTS).map(([fault, name]) =>
    judge(name, 'faults', verdict.faults[fault as Fault].length, 'exactly', 0),
  );
  return [
    judge('payments due', 'payments', verdict.due, 'at least', least),
    judge('payments applied exactly once', 'payments', verdict.appliedOnce, 'exactly', verdict.due),
    ...faults,
  ];
}

/** For a control: it must show this fault, since a checker that finds none proves nothing. */
export function caughtResult(control: string, { faults }: Verdict, fault: Fault): Result {
  return judge(`control, ${control}: ${FAULTS[fault]}`, 'faults', faults[fault].length, 'at least', 1);
}

export function verdictTable({ verdict, payments }: Outcome): Table {
  const { faults: _, ...figures } = verdict;
  const rows = Object.entries({ ...figures, payments });
  return {
    title: 'The history, and what became of it',
    head: ['', 'count', ''],
    rows: rows.map(([name, count]) => [name, figure(count), '']),
  };
}
