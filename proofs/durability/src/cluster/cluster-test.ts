/**
 * `pnpm lab cluster [--failovers N] [--pause S] [--control-failovers N] [--ttl S] [--report path]`: a real cluster on loopback
 * (Patroni, etcd, HAProxy and PostgreSQL 15; three nodes) whose primary is killed, paused and cut off from the others, one
 * after another, under load. Receivers and workers know only HAProxy. Then the history is judged. Prints tables, writes
 * reports/cluster.json, and exits with 1 if a target is missed, or with 2 if a program is missing.
 *
 * The control is the same cluster in asynchronous mode: it must lose callbacks, and the run fails if it does not.
 *
 * It looks for the programs first in the folder CLUSTER_PROGRAMS, then in PATH. It installs nothing.
 */
import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { judgeLosses, type Outcome, runUnderLoad, type Watch } from '../failovers/run-under-load.ts';
import type { Request } from '../history/judge-history.ts';
import { told as toldVerdict, verdictTable } from '../history/results.ts';
import { monotonicMs, spread } from '../measure/measure.ts';
import { cleanUp, endUnused, readFlags, runProgram } from '../measure/program.ts';
import { judge, type Result, told } from '../measure/results.ts';
import { figure, type Table } from '../measure/tables.ts';
import { Cluster } from './cluster.ts';
import type { Fault } from './node.ts';
import { findPrograms, type Programs } from './programs.ts';

const FAULTS: readonly Fault[] = ['killed', 'paused', 'cut off'];
/** The minimum that Patroni accepts. */
const MIN_TTL = 20;
/** Longer than any sum of the configured waits: a longer failover would not be automatic. */
const MAX_RECOVERY_MS = 120_000;

interface ClusterRun {
  readonly programs: Programs;
  /** The fault of each round. */
  readonly faults: readonly Fault[];
  /** If false, the run is the control: no commit waits, and the standbys are cut off before each fault. */
  readonly isSynchronous: boolean;
  /** How long a node is paused or cut off: at least this many seconds, and until another node leads. */
  readonly pause: number;
  readonly ttl: number;
}

export interface Round {
  readonly fault: Fault;
  readonly from: string;
  readonly to: string;
  /** When the fault happened, on the clock of the history. */
  readonly at: number;
  /** Requests that were waiting for a response at that moment. */
  readonly underWay: number;
  /** The findings of `doctor` through HAProxy a few seconds later, and once another node led: the check and what it saw. */
  readonly during: readonly string[];
  readonly after: readonly string[];
}

export interface ClusterOutcome extends Outcome<Round> {
  /** From each fault to the response to the first callback that was sent after it and acknowledged, in milliseconds. */
  readonly recoveryMs: readonly number[];
  /** What `doctor` found before the first fault. */
  readonly doctorBefore: readonly string[];
}

/** The number of payments before a fault, and after it. */
const AROUND = 60;
/** In the control: the number of payments while the standbys are cut off. */
const IN_STALL = 50;
const PAUSE_MS = 400;
/** When an operator may start to look, after a fault. */
const DOCTOR_AFTER_MS = 4000;
const COMMAND = fileURLToPath(new URL('command/command.ts', import.meta.resolve('@payment-service/inbox')));

export default async function (): Promise<void> {
  const flags = readFlags({ failovers: 30, pause: 60, controlFailovers: 2, ttl: 30 });
  const { failovers, pause, controlFailovers, ttl, report } = flags;
  if (ttl < MIN_TTL) endUnused(`--ttl must be at least ${MIN_TTL}: Patroni accepts no less.`);
  const programs = findPrograms();
  if (typeof programs === 'string') endUnused(programs);
  const { versions } = programs;
  await runProgram({ name: 'cluster', report }, async () => {
    console.log(
      `${Object.values(versions).join('; ')}\nSynchronous mode, ${failovers} failovers, ttl ${ttl} s`,
    );
    const shared = { programs, pause, ttl };
    const faults = Array.from({ length: failovers }, (_, index) => FAULTS[index % 3] ?? 'killed');
    const synchronous = await runCluster({ ...shared, faults, isSynchronous: true });
    console.log(`\nControl: asynchronous mode, ${controlFailovers} failovers`);
    const killed = Array.from({ length: controlFailovers }, (): Fault => 'killed');
    const control = await runCluster({ ...shared, faults: killed, isSynchronous: false });
    return {
      results: judgeCluster(synchronous, control, failovers),
      tables: [recoveryTable(synchronous), doctorTable(synchronous), verdictTable(synchronous.verdict)],
      versions,
      ttl,
      pause,
      synchronous: { ...synchronous, verdict: toldVerdict(synchronous.verdict) },
      control: { ...control, verdict: toldVerdict(control.verdict) },
    };
  });
}

/** Plays one fault of the primary after another, under load, and then judges the history. */
async function runCluster(options: ClusterRun): Promise<ClusterOutcome> {
  const { programs, faults, isSynchronous, ttl } = options;
  try {
    const cluster = await Cluster.start(programs, isSynchronous, ttl);
    const { url, adminUrl } = cluster;
    const check = (): void => cluster.check();
    const ground = { url, adminUrl, pauseMs: PAUSE_MS, rounds: faults.length, check };
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
  // The fault ends regardless of the other nodes, as with networks and virtual machines; and a rewind may need the node itself.
  if (fault !== 'killed') await wait(Math.max(0, at + pause * 1000 - monotonicMs()));
  await struck.heal(fault);
  await acknowledged(AROUND);
  await cluster.whole();
  const [from, to] = [struck.ports.name, leader.ports.name];
  console.log(
    `  ${from} was ${fault} with ${underWay} requests under way; ${to} leads. ${[...during, ...after].join(' | ')}`,
  );
  return { fault, from, to, at, underWay, during, after };
}

function recoveryAfter(at: number, requests: readonly Request[]): number {
  const ends = requests.flatMap(({ kind, began, ended, answer }) =>
    kind === 'callback' && began >= at && /^(ack|first|rep)/.test(answer) ? [ended] : [],
  );
  return Math.round(Math.min(...ends) - at);
}

/** What an operator sees: the checks that find something, and their findings. */
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

function recoveryTable({ rounds, recoveryMs, seconds }: ClusterOutcome): Table {
  const rows = FAULTS.map((fault) => {
    const own = recoveryMs.filter((_, index) => rounds[index]?.fault === fault).toSorted((a, b) => a - b);
    const at = (share: number): string => figure((own.at(Math.ceil(share * own.length) - 1) ?? 0) / 1000);
    return [fault, String(own.length), at(0.5), at(1), ''];
  });
  const title = `Seconds from the fault to the next acknowledged payment; the run took ${seconds} s`;
  return { title, head: ['', 'failovers', 'median', 'longest', ''], rows };
}

/** How often each finding was seen. */
function doctorTable({ rounds, doctorBefore }: ClusterOutcome): Table {
  const when = {
    before: doctorBefore,
    during: rounds.flatMap(({ during }) => during),
    after: rounds.flatMap(({ after }) => after),
  };
  const found = Object.entries(when).flatMap(([at, findings]) => findings.map((one) => `${at}: ${one}`));
  const rows = [...Map.groupBy(found, (one) => one)].map(([one, { length }]) => [one, String(length), '']);
  return { title: 'What doctor found, and how often', head: ['', 'times', ''], rows };
}

/** What the run and the control must show: if the control loses nothing, the run would not have noticed a loss either. */
export function judgeCluster(
  synchronous: ClusterOutcome,
  control: ClusterOutcome,
  failovers: number,
): readonly Result[] {
  const { rounds, recoveryMs } = synchronous;
  const moved = rounds.filter(({ from, to, underWay }) => from !== to && underWay > 0).length;
  return [
    judge('failovers to another node, with requests under way', 'failovers', moved, 'exactly', failovers),
    told('from the fault to the next acknowledged payment', 'ms', spread(recoveryMs)),
    judge('the longest of them', 'ms', Math.max(...recoveryMs), 'at most', MAX_RECOVERY_MS),
    ...judgeLosses(synchronous, control, failovers),
  ];
}
