/**
 * `pnpm lab cluster [--failovers N] [--control-failovers N] [--report path]`: a real cluster on loopback
 * (Patroni, etcd, HAProxy and PostgreSQL 15; three nodes) whose primary is killed, paused and cut off from the others, one
 * after another, under load. Receivers and workers know only HAProxy. Then the history is judged. Prints tables, writes
 * reports/cluster.json, and exits with 1 if a target is missed, or with 2 if a program is missing.
 *
 * The control is the same cluster in asynchronous mode: it must lose callbacks, and the run fails if it does not.
 *
 * It looks for the programs first in the folder CLUSTER_PROGRAMS, then in PATH. It installs nothing.
 */
import { Cluster } from '../cluster/cluster.ts';
import { findPrograms } from '../cluster/programs.ts';
import { endUnused, readFlags, runProgram } from '../measure/program.ts';
import { runFailovers } from './failovers.ts';

export default async function (): Promise<void> {
  const flags = readFlags({ failovers: 30, controlFailovers: 2 });
  const { failovers: rounds, controlFailovers: controlRounds, report } = flags;
  const programs = findPrograms();
  if (typeof programs === 'string') endUnused(programs);
  const { versions } = programs;
  await runProgram({ name: 'cluster', report }, async () => {
    console.log(Object.values(versions).join('; '));
    const start = (isSynchronous: boolean) => Cluster.start(programs, isSynchronous);
    const found = await runFailovers({ start, rounds, controlRounds, pauseMs: 400, isHeld: false });
    return { ...found, versions };
  });
}
