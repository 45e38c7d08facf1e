/**
 * `pnpm lab`: lists the proofs. `pnpm lab <name>` runs one of them, with the flags that follow. Each prints
 * tables, writes reports/<name>.json, and exits with 1 if a target is missed.
 */
import { spawnSync } from 'node:child_process';

/** The file of a program, or the package that contains it, and what it shows. */
const PROGRAMS: Readonly<Record<string, readonly [where: string, shows: string]>> = {
  'crash-test': ['durability/src/run/crash-test.ts', 'the inbox under kill -9'],
  'failover-test': ['durability/src/run/failover-test.ts', 'a standby takes over under load'],
  cluster: [
    'durability/src/run/cluster-test.ts',
    'Patroni, etcd and HAProxy; the primary is killed, paused, cut off',
  ],
  interleavings: ['@payment-service/inbox', '10,000 orders of callbacks and attempts on each store'],
  fuzz: ['fuzz/src/fuzz.ts', 'core and a second verifier judge the same inputs'],
  timing: [
    'fuzz/src/timing/timing.ts',
    'whether the time of a verification tells how much of a hash is right',
  ],
  canary: ['fuzz/src/canary/canary.ts', 'keys, a phone number and a name in everything that shows something'],
  mutation: ['mutation/src/mutation.ts', 'faults planted in the code, and those that no test finds'],
  'bench:inbox': ['benchmarks/src/inbox/bench-inbox.ts', 'durable callbacks a second'],
  'bench:drain': ['benchmarks/src/drain/bench-drain.ts', 'the rate at which a backlog is settled'],
  'bench:latency': ['benchmarks/src/latency/bench-latency.ts', 'from a request to its committed effect'],
  'bench:scale': ['benchmarks/src/scale/bench-scale.ts', "an operator's calls with 10 million payments"],
  'bench:start': ['benchmarks/src/start/bench-start.ts', 'until a program, a sandbox or a command is ready'],
  bench: ['@payment-service/benchmarks', 'core and the adapters beside their peers'],
  budgets: ['@payment-service/benchmarks', 'what users install, load and bundle'],
};

// Some use the keys of a sandbox, which a verifier refuses elsewhere (threat A27).
process.env['NODE_ENV'] ??= 'development';
const [name = '', ...flags] = process.argv.splice(2);
const [where] = PROGRAMS[name] ?? [];
if (where === undefined) {
  for (const [one, [, shows]] of Object.entries(PROGRAMS)) console.log(`  ${one.padEnd(16)}${shows}`);
  if (name !== '') console.error(`\nThere is no proof named "${name}": the list has all of them.`);
  process.exitCode = name === '' ? 0 : 2;
} else if (where.startsWith('@')) {
  // The script of the same name.
  const args = ['--filter', where, 'run', name, ...flags];
  const { status } = spawnSync('pnpm', args, { stdio: 'inherit', shell: process.platform === 'win32' });
  process.exitCode = status ?? 1;
} else {
  process.argv.push(...flags);
  // A program runs when it is loaded, or is its module's default export.
  const program: { readonly default?: () => unknown } = await import(`./${where}`);
  await program.default?.();
}
