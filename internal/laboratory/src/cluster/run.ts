import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Outcome, runUnderLoad, type Watch } from '../failovers/run-under-load.ts';
import type { Request } from '../history/judge-history.ts';
import { monotonicMs } from '../measure/measure.ts';
import { cleanUp } from '../measure/program.ts';
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

export interface ClusterOutcome extends Outcome<Round> {
  /** From each fault to the answer of the first callback that was sent after it and acknowledged, in milliseconds. */
  readonly recoveryMs: readonly number[];
  /** What `doctor` found before the first fault. */
  readonly doctorBefore: readonly string[];
}

/** Payments before a fault, and after it. */
const AROUND = 60;
/** Of the control: payments while the standbys are cut off. */
const IN_STALL = 50;
const PAUSE_MS = 400;
/** So long after a fault a person may start to look. */
const DOCTOR_AFTER_MS = 4000;
const COMMAND = fileURLToPath(new URL('command/command.ts', import.meta.resolve('@payment-service/inbox')));

/** One fault of the primary after the other, under load; then the history is judged. */
export async function runCluster(options: ClusterRun): Promise<ClusterOutcome> {
  const { programs, faults, isSynchronous, ttl, onRound } = options;
  try {
    const cluster = await Cluster.start(programs, isSynchronous, ttl);
    const { url, adminUrl } = cluster;
    const check = (): void => cluster.check();
    const ground = { url, adminUrl, pauseMs: PAUSE_MS, rounds: faults.length, onRound, check };
    const doctorBefore: string[] = [];
    const { outcome, requests } = await runUnderLoad<Round>(ground, async (watch, index) => {
      if (index === 0) doctorBefore.push(...(await doctor(url)));
      return failOver(faults[index] ?? 'killed', options, cluster, watch);
    });
    const recoveryMs = outcome.rounds.map(({ at }) => recoveryAfter(at, requests));
    return { ...outcome, recoveryMs, doctorBefore };
  } finally {
    await cleanUp();
  }
}

async function failOver(
  fault: Fault,
  { isSynchronous, pause }: ClusterRun,
  cluster: Cluster,
  { acknowledged, underWay: loaded }: Watch,
): Promise<Round> {
  await acknowledged(AROUND);
  const struck = await cluster.leader();
  if (!isSynchronous) {
    struck.holdReplication();
    await acknowledged(IN_STALL);
  }
  const underWay = await loaded();
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
  const ends = requests.flatMap(({ kind, began, ended, answer }) =>
    kind === 'callback' && began >= at && /^(ack|first|rep)/.test(answer) ? [ended] : [],
  );
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
