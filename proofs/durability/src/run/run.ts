import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Inbox } from '@payment-service/inbox';
import type { Fault } from '../faults/fault.ts';
import { judgeHistory, type Request, type Verdict } from '../history/judge-history.ts';
import { Load } from '../history/load.ts';
import { EFFECT_TABLE, OPEN, PREFIX, readRemains } from '../history/remains.ts';
import { atTheEnd, stopped } from '../measure/program.ts';
import { until } from '../measure/until.ts';
import { ManagedProcess, ofRole } from '../merchant/managed-process.ts';
import { openInbox, type Transaction } from '../merchant/merchant.ts';
import type { Topology } from '../topology/topology.ts';

export interface RunOptions {
  readonly topology: Topology;
  /** The folder of the run, on a disk that is never full. */
  readonly folder: string;
  readonly seed: number;
  /** Changes how the merchant's programs run. */
  readonly fault?: Fault | undefined;
  /** The folder for callbacks that one of the receivers keeps while there is no database. @default no receiver has one */
  readonly spool?: string | undefined;
  /** Whether effects are written outside the transaction. */
  readonly isControl?: boolean;
  /** The average pause after each payment. @default 0 */
  readonly pauseMs?: number;
}

/** A run, for what strikes it. */
export interface Running {
  readonly load: Load;
  /** Two receivers and two workers. */
  readonly processes: readonly ManagedProcess[];
  /** Aborted when a program failed that nothing had killed. */
  readonly signal: AbortSignal;
  /** Waits for something that the load brings about. */
  reach(isThere: () => boolean): Promise<unknown>;
}

export interface Outcome {
  readonly verdict: Verdict;
  /** Payments that were sent. */
  readonly payments: number;
  /** Transitions whose handlers died three times, and which an operator, here the test, sent back to the workers. */
  readonly crashLooped: number;
  readonly states: Readonly<Record<string, number>>;
  /** The codes of the warnings that the merchant's programs printed. */
  readonly warnings: readonly string[];
  readonly seconds: number;
}

export interface Run {
  readonly outcome: Outcome;
  readonly requests: readonly Request[];
  readonly processes: readonly ManagedProcess[];
}

/** With more, the load waits for the workers, so that receivers and workers are busy until the end. */
const MAX_DUE = 400;
const LOOK_MS = 200;
const NOTE = { by: 'durability', note: 'the process was killed, the handler is sound' };

/**
 * One whole run: starts two receivers and two workers, sends the load, lets `play` strike, waits until everything is settled,
 * and judges what is left.
 */
export async function run(options: RunOptions, play: (running: Running) => Promise<void>): Promise<Run> {
  const { topology, folder, seed, fault, spool, isControl = false, pauseMs } = options;
  const started = performance.now();
  const failed = new AbortController();
  const signal = AbortSignal.any([stopped, failed.signal]);
  const database = fault?.database ?? topology.database;
  const processes = [0, 1].flatMap((index) => {
    const env = fault?.env?.(index);
    const parts = { folder, env, onFailure: (error: Error) => failed.abort(error) };
    return [
      new ManagedProcess({ role: 'receiver', database, spool: index === 0 ? spool : undefined }, parts),
      new ManagedProcess({ role: 'worker', database, isControl, isDraining: index === 1 }, parts),
    ];
  });
  // The tables exist before anything is killed.
  await topology.read(EFFECT_TABLE);
  await operate((inbox) => inbox.ready());
  for (const one of processes) one.start();
  const addresses = () => processes.flatMap(({ address }) => address ?? []);
  const load = new Load({ addresses, record: join(folder, 'history'), seed, pauseMs });
  const sent = (): string => `${load.begun} payments begun, ${load.acknowledged} acknowledged`;
  const reach: Running['reach'] = (isThere) => {
    const look = (): boolean => {
      topology.check?.();
      return isThere();
    };
    return until(sent, look, { everyMs: 5, signal });
  };
  const holding = holdWhileBusy();
  const playing = toTheEnd();
  // Once nothing is started any more.
  atTheEnd(async () => {
    failed.abort(new Error('The run has ended.'));
    await Promise.allSettled([playing, holding]);
    await Promise.all(processes.map((one) => one.kill()));
  });
  await playing;
  const crashLooped = await operate(settle);
  for (const worker of ofRole(processes, 'worker')) await worker.end();
  const seconds = Math.round((performance.now() - started) / 1000);
  const { states, ...remains } = await readRemains(topology.read, PREFIX[database.store]);
  const requests = load.requests();
  const verdict = judgeHistory({ requests, ...remains });
  const warnings = processes.flatMap((one) => one.warnings);
  const outcome = { verdict, payments: load.begun, crashLooped, states, warnings, seconds };
  return { outcome, requests, processes };

  async function operate<T>(use: (inbox: Inbox<Transaction>) => Promise<T>): Promise<T> {
    const inbox = openInbox(topology.database);
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

  async function holdWhileBusy(): Promise<void> {
    for (; !signal.aborted; await wait(LOOK_MS)) {
      const due = await transitions(`${OPEN} and next_at <= ${Date.now()}`).catch(() => 0);
      load.isHeld = due > MAX_DUE;
    }
  }

  async function transitions(condition: string): Promise<number> {
    const counted = `select count(*) as n from ${PREFIX[database.store]}transition where ${condition}`;
    return Number((await topology.read(counted))[0]?.['n']);
  }

  /**
   * Waits until every spool is drained and every transition has its final state, and does what an operator would do with
   * transitions that no handler survived.
   *
   * @returns the number of such transitions.
   */
  async function settle(inbox: Inbox<Transaction>): Promise<number> {
    let sentBack = 0;
    let state = '';
    const look = async (): Promise<boolean> => {
      const looped = await inbox.retry({ state: 'quarantined', reason: 'crash_loop' }, NOTE);
      sentBack += looped;
      const spooled = await Promise.all(ofRole(processes, 'receiver').map(spooledBy));
      const open = await transitions(OPEN);
      state = `${open} open, ${spooled} spooled, ${looped} sent back`;
      return looped === 0 && open === 0 && spooled.every((count) => count === 0);
    };
    await until(() => state, look, { everyMs: 100, signal });
    return sentBack;
  }
}

async function spooledBy({ address }: ManagedProcess): Promise<number | undefined> {
  if (address === undefined) return undefined;
  const response = await fetch(`${address}/spooled`).catch(() => undefined);
  return response?.status === 200 ? Number(await response.text()) : undefined;
}
