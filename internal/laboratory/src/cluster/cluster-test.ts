/**
 * `pnpm lab cluster [--failovers N] [--pause S] [--control-failovers N] [--ttl S] [--report path]`: a real cluster on loopback
 * (Patroni, etcd, HAProxy and PostgreSQL 15; three nodes) whose primary is killed, paused and cut off from the others, in turn,
 * under load. Receivers and workers know HAProxy only. Then the history is judged. Prints tables, writes reports/cluster.json,
 * and ends with 1 where a target is missed, and with 2 where a program is missing.
 *
 * The control is the same cluster in its asynchronous mode: it must lose, and the run fails when it does not.
 *
 * It looks for the programs in PATH, and before that in the folder CLUSTER_PROGRAMS. It installs nothing.
 */
import { told, verdictTable } from '../history/results.ts';
import { endUnused, readFlags, runProgram } from '../measure/program.ts';
import { figure, type Table } from '../measure/tables.ts';
import { judgeCluster } from './judge.ts';
import type { Fault } from './node.ts';
import { findPrograms } from './programs.ts';
import { type ClusterOutcome, type Round, runCluster } from './run.ts';

const FAULTS: readonly Fault[] = ['killed', 'paused', 'cut off'];
/** What Patroni accepts at least. */
const MIN_TTL = 20;

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
  const shared = { programs, pause, ttl, onRound: printRound };
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
    synchronous: { ...synchronous, verdict: told(synchronous.verdict) },
    control: { ...control, verdict: told(control.verdict) },
  };
});

function printRound({ fault, from, to, underWay, during, after }: Round): void {
  console.log(
    `  ${from} was ${fault} with ${underWay} requests under way; ${to} leads. ${[...during, ...after].join(' | ')}`,
  );
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
