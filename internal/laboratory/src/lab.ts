/**
 * `pnpm lab`: lists the programs of the laboratory. `pnpm lab <name>` runs one of them, with the flags that follow. Each
 * prints tables, writes reports/<name>.json, and ends with 1 where a target is missed.
 */
import { spawnSync } from 'node:child_process';

/** A program runs when it is loaded, or is the default of its module. */
type Program = readonly [shows: string, load: () => Promise<{ readonly default?: () => unknown }>];

const PROGRAMS: Readonly<Record<string, Program>> = {
  fuzz: ['core and a second verifier judge the same inputs', () => import('./fuzz/fuzz.ts')],
  timing: [
    'whether the time of a verification tells how much of a hash is right',
    () => import('./timing/timing.ts'),
  ],
  'crash-test': ['the inbox under kill -9', () => import('./crashes/crash-test.ts')],
  'failover-test': ['a standby takes over under load', () => import('./failovers/failover-test.ts')],
  cluster: [
    'Patroni, etcd and HAProxy; the primary is killed, paused, cut off',
    () => import('./cluster/cluster-test.ts'),
  ],
  interleavings: ['10,000 orders of callbacks and attempts on each store', inPackage('inbox')],
  canary: [
    'keys, a phone number and a name in everything that shows something',
    () => import('./canary/canary.ts'),
  ],
  'fsync-count': ['a sync to disk for every acknowledgement', () => import('./syncs/fsync-count.ts')],
  hostile: ['hostile requests to every adapter on real sockets', () => import('./hostile/hostile.ts')],
  cost: ['what hostile inputs cost beside their decoding', () => import('./cost/cost.ts')],
  'bench:inbox': ['durable callbacks a second', () => import('./inbox/bench-inbox.ts')],
  'bench:drain': ['the rate at which a backlog is settled', () => import('./drain/bench-drain.ts')],
  'bench:latency': ['from a request to its committed effect', () => import('./latency/bench-latency.ts')],
  'bench:scaling': ['1, 2 and 4 processes', () => import('./scaling/bench-scaling.ts')],
  'bench:scale': ["an operator's calls with 10 million payments", () => import('./scale/bench-scale.ts')],
  mutation: [
    'faults planted in the code, and those that no test finds',
    () => import('./mutation/mutation.ts'),
  ],
  bench: ['core and the adapters beside their peers', inPackage('benchmarks')],
  budgets: ['what users install, load and bundle', inPackage('benchmarks')],
};

const [name = '', ...flags] = process.argv.splice(2);
const program = PROGRAMS[name];
if (program === undefined) {
  for (const [one, [shows]] of Object.entries(PROGRAMS)) console.log(`  ${one.padEnd(16)}${shows}`);
  if (name !== '')
    console.error(`\nThe laboratory has no program "${name}": the list has those that it has.`);
  process.exitCode = name === '' ? 0 : 2;
} else {
  process.argv.push(...flags);
  await (await program[1]()).default?.();
}

/** Runs the script of the same name. */
function inPackage(folder: string): Program[1] {
  return async () => {
    const args = ['--filter', `@payment-service/${folder}`, 'run', name, ...flags];
    const { status } = spawnSync('pnpm', args, { stdio: 'inherit', shell: process.platform === 'win32' });
    process.exitCode = status ?? 1;
    return {};
  };
}
