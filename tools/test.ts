/**
 * `pnpm test`: runs every check and every test of the repository, then prints `N passed, 0 failed`. With `--proofs`, as
 * `pnpm proofs` passes, it runs what takes too long for every change: the `*.proof.ts` files and ten million fuzzer inputs.
 *
 * Each check counts as one. To add one, add a line to CHECKS_OF_TESTS; to add tests, give a package a script named `test`. Old
 * reports are removed first, so that a package whose tests did not run cannot pass with an old report; count-report.ts decides
 * what counts as passed.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, constants, setPriority } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { countReport } from './count-report.ts';

const TASK = process.argv.includes('--proofs') ? 'proofs' : 'test';
const KIND = TASK === 'proofs' ? 'proof' : 'test';
/** A command is a list of words separated by single spaces. */
type Checks = readonly (readonly [name: string, command: string])[];
const CHECKS_OF_TESTS: Checks = [
  ['format and lint', 'biome ci --colors=off --error-on-warnings .'],
  ['the contract is valid OpenAPI 3.1', 'redocly lint openapi/payment-service.yaml'],
  ['no unused files, exports or dependencies', 'knip --no-progress'],
];
/** Each runs half of the ten million inputs, so that each of two cores has one process. */
const CHECKS_OF_PROOFS: Checks = [1, 2].map((seed) => [
  `core and a second verifier agree on 5 million inputs of seed ${seed}`,
  `node proofs/lab.ts fuzz --count 5000000 --seed ${seed} --report reports/fuzz-${seed}.json`,
]);
const CHECKS = TASK === 'proofs' ? CHECKS_OF_PROOFS : CHECKS_OF_TESTS;
// Every test file, and every command that a test starts, is a separate process. They share Node's compile cache, since compiling
// is most of the work of such a process. Each run begins without this cache, as in CI.
const COMPILED = join('node_modules', '.cache', 'compiled');
// Packages whose tests use one worker run one after another. All others run at the same time, one task per core: if the order
// were left to chance, the longest of them might begin last, and the other cores would wait for it.
const LONE = ['integrations', 'release', 'rules'].map((name) => `@payment-service/${name}`);
const turbo = (tasks: string, concurrency: number, packages: readonly string[]): string => {
  const filters = packages.map((name) => ` --filter=${name}`).join('');
  return `turbo run ${tasks} --continue --concurrency=${concurrency} --output-logs=errors-only${filters}`;
};

process.chdir(dirname(import.meta.dirname));
const started = Date.now();
const total = { passed: 0, failed: 0 };
rmSync(COMPILED, { recursive: true, force: true });

const manifests = globSync(
  ['packages', 'proofs', 'tools', 'apps'].map((folder) => `${folder}/*/package.json`),
);
const tested = manifests
  .filter((path) => globSync(`${dirname(path)}/test/**/*.${KIND}.ts`).length > 0)
  .map(dirname)
  .sort();
if (tested.length === 0)
  throw new Error('No package has tests. Run this script from a complete checkout of the repository.');
for (const folder of tested) rmSync(`${folder}/.${KIND}-report.json`, { force: true });
// Runs at the same time as the checks: neither needs the other.
const tests = testAll();
const checks = CHECKS.map(([name, command]) => ({ name, ended: run(command, 'collected') }));
for (const { name, ended } of checks) {
  const { code, output } = await ended;
  if (code !== 0) console.log(output);
  count(Number(code === 0), Number(code !== 0), name);
}
const isPassed = await tests;
count(Number(isPassed), Number(!isPassed), `build, types and ${KIND}s of every package`);
for (const folder of tested) {
  const reportFile = `${folder}/.${KIND}-report.json`;
  const report = existsSync(reportFile) ? readFileSync(reportFile, 'utf8') : undefined;
  const testFiles = globSync(`${folder}/test/**/*.${KIND}.ts`).map((path) => path.replaceAll('\\', '/'));
  const { passed, failures } = countReport(report, testFiles);
  count(passed, failures.length, folder);
  for (const failure of failures) console.log(`${' '.repeat(14)}${failure}`);
}

const seconds = Math.round((Date.now() - started) / 1000);
console.log(`\n${tested.length} packages and ${CHECKS.length + 1} checks in ${seconds} s`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

/** Whether every turbo task succeeded. The packages are built first, since two concurrent runs would build them twice. */
async function testAll(): Promise<boolean> {
  const cores = availableParallelism();
  const others = LONE.map((name) => `!${name}`);
  const built = await run(turbo('build typecheck', cores + 1, []), 'shown');
  const ended = await Promise.all([
    run(turbo(TASK, 1, LONE), 'shown'),
    run(turbo(TASK, cores, others), 'shown'),
  ]);
  return [built, ...ended].every(({ code }) => code === 0);
}

function count(passed: number, failed: number, name: string): void {
  total.passed += passed;
  total.failed += failed;
  console.log(`${failed === 0 ? 'ok    ' : 'FAILED'} ${String(passed).padStart(5)}  ${name}`);
}

/** pnpm puts node_modules/.bin and its Node first in PATH, where the commands are found. */
function run(command: string, show: 'shown' | 'collected'): Promise<{ code: number; output: string }> {
  const [name = '', ...args] = command.split(' ');
  const child = spawn(name, args, {
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: resolve(COMPILED),
      TURBO_TELEMETRY_DISABLED: '1',
      REDOCLY_TELEMETRY: 'off',
    },
    shell: process.platform === 'win32',
    stdio: show === 'shown' ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
  });
  // Nothing waits for a check before the end, so it uses the processor time that the tests leave.
  if (show === 'collected' && child.pid !== undefined)
    setPriority(child.pid, constants.priority.PRIORITY_LOW);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ code: status ?? 1, output }));
  });
}
