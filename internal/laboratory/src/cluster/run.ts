import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Load } from '../failovers/load.ts';
import { Merchant } from '../failovers/merchant.ts';
import { EFFECT_TABLE } from '../history/effects.ts';
import { judgeHistory, type Request, type Verdict } from '../history/judge-history.ts';
import { drained, readRemains } from '../history/postgres-remains.ts';
import { readRequests } from '../history/record.ts';
import { withClient } from '../load/postgres.ts';
import { monotonicMs } from '../measure/measure.ts';
import { atTheEnd, cleanUp, makeFolder } from '../measure/program.ts';
import { Cluster } from './cluster.ts';
import type { Fault } from './node.ts';
import type { Programs } from './programs.ts';

export interface ClusterRun {
  readonly programs: Programs;
  /** The fault of each round. */
  readonly faults: readonly Fault[];
  /** Without it the run is the control: no commit waits, and the standbys are cut off before each fault. */
  readonly isSynchronous: boolean;
  /** How long a node is paused or cut off, in seconds: at least this, and until another one leads. */
  readonly pause: number;
  readonly ttl: number;
  readonly onRound: (round: Round) => void;
}

export interface Round {
  readonly fault: Fault;
  readonly from: string;
  readonly to: string;
  /** When the fault happened, on the clock of the history. */
  readonly at: number;
  /** Requests that waited for their answer at that moment. */
  readonly underWay: number;
  /** What `doctor` found through HAProxy a few seconds later, and when another node led: the check and what it saw. */
  readonly during: readonly string[];
  readonly after: readonly string[];
}

export interface ClusterOutcome {
  readonly rounds: readonly Round[];
  /** From each fault to the answer of the first callback that was sent after it and acknowledged, in milliseconds. */
  readonly recoveryMs: readonly number[];
  readonly verdict: Verdict;
  readonly states: Readonly<Record<string, number>>;
  readonly warnings: readonly string[];
  /** What `doctor` found before the first fault. */
  readonly doctorBefore: readonly string[];
  readonly seconds: number;
}

/** Payments before a fault, and after it. */
const AROUND = 60;
/** Of the control: payments while the standbys are cut off. */
const IN_STALL = 50;
/** So long after a fault a person may start to look. */
const DOCTOR_AFTER_MS = 4000;
const COMMAND = fileURLToPath(new URL('command/command.ts', import.meta.resolve('@payment-service/inbox')));

/** One fault of the primary after the other, under load; then the history is judged. */
export async function runCluster(options: ClusterRun): Promise<ClusterOutcome> {
  const { programs, faults, isSynchronous, ttl, onRound } = options;
  const started = performance.now();
  try {
    const cluster = await Cluster.start(programs, isSynchronous, ttl);
    const { url, adminUrl } = cluster;
    await withClient(url, (client) => client.query(EFFECT_TABLE));
    const merchant = await Merchant.start(url);
    atTheEnd(() => merchant.end());
    const record = join(await makeFolder(), 'history');
    const { addresses } = merchant;
    const load = new Load({ addresses, record, seed: randomInt(1_000_000), pauseMs: 400 });
    const doctorBefore = await doctor(url);
    const rounds: Round[] = [];
    for (const fault of faults) {
      const round = await failOver(fault, options, { cluster, load, merchant });
      rounds.push(round);
      onRound(round);
    }
    await load.stop();
    const remains = await withClient(adminUrl, async (client) => {
      await drained(client);
      return readRemains(client);
    });
    const requests = await readRequests(record);
    return {
      rounds,
      recoveryMs: rounds.map(({ at }) => recoveryAfter(at, requests)),
      verdict: judgeHistory({ requests, ...remains }),
      states: remains.states,
      warnings: merchant.warnings,
      doctorBefore,
      seconds: Math.round((performance.now() - started) / 1000),
    };
  } finally {
    await cleanUp();
  }
}

interface Running {
  readonly cluster: Cluster;
  readonly load: Load;
  readonly merchant: Merchant;
}

async function failOver(
  fault: Fault,
  { isSynchronous, pause }: ClusterRun,
  { cluster, load, merchant }: Running,
): Promise<Round> {
  const acknowledged = async (count: number): Promise<void> => {
    const wanted = load.acknowledged + count;
    await cluster.until(`${count} acknowledged payments`, async () => {
      merchant.check();
      return load.acknowledged >= wanted ? true : undefined;
    });
  };
  await acknowledged(AROUND);
  const struck = await cluster.leader();
  if (!isSynchronous) {
    struck.holdReplication();
    await acknowledged(IN_STALL);
  }
  for (let turn = 0; load.underWay === 0 && turn < 1000; turn++) await wait(1);
  const { underWay } = load;
  await struck.strike(fault);
  const at = monotonicMs();
  const [during, leader] = await Promise.all([
    wait(DOCTOR_AFTER_MS).then(() => doctor(cluster.url)),
    cluster.leader(struck),
  ]);
  const after = await doctor(cluster.url);
  // It ends as networks and virtual machines do: whatever the others need, and a rewind may need the node itself.
  if (fault !== 'killed') await wait(Math.max(0, at + pause * 1000 - monotonicMs()));
  await struck.heal(fault);
  await acknowledged(AROUND);
  await cluster.whole();
  const [from, to] = [struck.ports.name, leader.ports.name];
  return { fault, from, to, at, underWay, during, after };
}

function recoveryAfter(at: number, requests: readonly Request[]): number {
  const ends = requests
    .filter(
      ({ kind, began, answer }) => kind === 'callback' && began >= at && /^(ack|first|rep)/.test(answer),
    )
    .map(({ ended }) => ended);
  return Math.round(Math.min(...ends) - at);
}

/** What an operator sees: the checks that find something, and what they see. */
async function doctor(url: string): Promise<readonly string[]> {
  const output = await new Promise<string>((resolve) => {
    const env = { ...process.env, DATABASE_URL: url };
    const options = { env, cwd: import.meta.dirname, timeout: 120_000 };
    execFile(process.execPath, [COMMAND, '--json', 'doctor'], options, (_, stdout) => resolve(stdout));
  });
  if (output === '') return ['doctor: no answer'];
  const { findings } = JSON.parse(output) as { findings: readonly { check: string; seen: string }[] };
  return findings.map(({ check, seen }) => `${check}: ${seen}`);
}
