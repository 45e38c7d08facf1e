import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createVitest, type Vitest } from 'vitest/node';
import { parse, stringify } from 'yaml';
import { atTheEnd, makeFolder } from '../measure/program.ts';
import { contractFaults } from './contract-faults.ts';
import type { Fault } from './plant-faults.ts';
import { isInSample, type Sample } from './sample.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const CONTRACT = join('openapi', 'payment-service.yaml');

/** Who is asked, in this order, and what a fault is called that the first of them finds. */
const JUDGES = [
  {
    status: 'facts',
    folder: 'internal/contract',
    tests: ['facts', 'contract'],
    pattern: /^(?!.*the generated types)/,
  },
  { status: 'sandbox', folder: 'packages/sandbox', tests: ['contract'], pattern: undefined },
  { status: 'types', folder: 'internal/contract', tests: ['contract'], pattern: /the generated types/ },
] as const;

/** Changes every fact of the contract in a copy of it, one after another, and runs the tests that read it. */
export async function plantContractFaults(sample: Sample): Promise<Fault[]> {
  const text = await readFile(join(ROOT, CONTRACT), 'utf8');
  const copy = await copyOfReaders();
  const judges: { readonly status: string; readonly isAccepted: () => Promise<boolean> }[] = [];
  for (const judge of JUDGES) judges.push({ status: judge.status, isAccepted: await testsOf(copy, judge) });
  for (const { status, isAccepted } of judges)
    if (!(await isAccepted()))
      throw new Error(`The tests of the contract (${status}) fail before any fault is planted.`);
  const faults: Fault[] = [];
  for (const { code, contract } of contractFaults(parse(text))) {
    if (!isInSample(code, sample)) continue;
    await writeFile(join(copy, CONTRACT), stringify(contract));
    let status = 'Survived';
    for (const judge of judges) {
      if (await judge.isAccepted()) continue;
      status = judge.status;
      break;
    }
    faults.push({ file: 'payment-service.yaml', line: 0, code, isFound: status !== 'Survived', status });
  }
  return faults;
}

/** The packages that read the contract, beside links to everything else: their own links lead to the copy of the contract. */
async function copyOfReaders(): Promise<string> {
  const folder = await makeFolder();
  const copied = ['openapi', 'internal/contract', 'packages/sandbox'];
  for (const name of await readdir(ROOT))
    if (name !== 'openapi' && name !== 'internal' && name !== 'packages' && name !== '.git')
      await symlink(join(ROOT, name), join(folder, name));
  for (const group of ['internal', 'packages']) {
    await mkdir(join(folder, group));
    for (const name of await readdir(join(ROOT, group)))
      if (!copied.includes(`${group}/${name}`))
        await symlink(join(ROOT, group, name), join(folder, group, name));
  }
  for (const name of copied)
    await cp(join(ROOT, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  return folder;
}

async function testsOf(
  copy: string,
  { folder, tests, pattern }: (typeof JUDGES)[number],
): Promise<() => Promise<boolean>> {
  const root = join(copy, folder);
  const vitest: Vitest = await createVitest('test', {
    root,
    config: join(root, 'vitest.config.ts'),
    include: tests.map((name) => `test/${name}.test.ts`),
    ...(pattern && { testNamePattern: pattern }),
    pool: 'threads',
    maxWorkers: 1,
    watch: false,
    bail: 1,
    reporters: [{}],
  });
  atTheEnd(() => vitest.close());
  const files = await vitest.globTestSpecifications();
  return async () => {
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(files);
    return unhandledErrors.length === 0 && testModules.every((file) => file.ok());
  };
}
