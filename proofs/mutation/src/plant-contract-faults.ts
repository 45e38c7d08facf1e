import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { atTheEnd, makeFolder } from '@payment-service/durability/measure/program.ts';
import { createVitest, type Vitest } from 'vitest/node';
import { parse, stringify } from 'yaml';
import { contractFaults } from './contract-faults.ts';
import type { Fault } from './plant-faults.ts';
import { isInSample, type Sample } from './sample.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CONTRACT = join('openapi', 'payment-service.yaml');

/** The judges are asked in this order, and the status of a fault names the first that finds it. */
const FACTS = ['tools/contract', ['facts', 'contract'], /^(?!.*the generated types)/] as const;
const SANDBOX = ['packages/sandbox', ['contract']] as const;

interface Judge {
  readonly status: string;
  readonly isAccepted: (contract: unknown) => Promise<boolean>;
}

/** Changes every fact of the contract in a copy, one after another, and runs the tests that read it. */
export async function plantContractFaults(sample: Sample): Promise<Fault[]> {
  const text = await readFile(join(ROOT, CONTRACT), 'utf8');
  const copy = await copyOfReaders();
  const judges: readonly Judge[] = [
    { status: 'facts', isAccepted: await testsOf(copy, ...FACTS) },
    { status: 'types', isAccepted: await typesOf() },
    { status: 'sandbox', isAccepted: await testsOf(copy, ...SANDBOX) },
  ];
  // In the format in which the faults are written: a judge that refuses this format would find every fault.
  await writeFile(join(copy, CONTRACT), stringify(parse(text)));
  for (const { status, isAccepted } of judges)
    if (!(await isAccepted(parse(text))))
      throw new Error(`The tests of the contract (${status}) fail before any fault is planted.`);
  const faults: Fault[] = [];
  for (const { code, contract } of contractFaults(parse(text))) {
    if (!isInSample(code, sample)) continue;
    await writeFile(join(copy, CONTRACT), stringify(contract));
    let status = 'Survived';
    for (const judge of judges) {
      if (await judge.isAccepted(contract)) continue;
      status = judge.status;
      break;
    }
    faults.push({ file: 'payment-service.yaml', line: 0, code, isFound: status !== 'Survived', status });
  }
  return faults;
}

/** Copies the packages that read the contract, and links everything else: their own links lead to the copy of the contract. */
async function copyOfReaders(): Promise<string> {
  const folder = await makeFolder();
  const copied = ['openapi', 'tools/contract', 'packages/sandbox'];
  for (const name of await readdir(ROOT))
    if (!['openapi', 'packages', 'tools', '.git'].includes(name))
      await symlink(join(ROOT, name), join(folder, name));
  for (const group of ['packages', 'tools']) {
    await mkdir(join(folder, group));
    for (const name of await readdir(join(ROOT, group)))
      if (!copied.includes(`${group}/${name}`))
        await symlink(join(ROOT, group, name), join(folder, group, name));
  }
  for (const name of copied)
    await cp(join(ROOT, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  return folder;
}

/** Checks the same as the tests of "the generated types", without a process for each fault. */
async function typesOf(): Promise<Judge['isAccepted']> {
  const generator: { readonly generatedTypes: (contract: unknown) => Promise<string> } = await import(
    join(ROOT, 'tools', 'contract', 'generated-types.ts')
  );
  const types = await readFile(join(ROOT, 'packages/core/src/generated/payment-service.ts'), 'utf8');
  return (contract) =>
    generator.generatedTypes(structuredClone(contract)).then(
      (text) => text === types,
      () => false,
    );
}

async function testsOf(
  copy: string,
  folder: string,
  tests: readonly string[],
  pattern?: RegExp,
): Promise<Judge['isAccepted']> {
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
