/** What users install with the packages, and did not choose. */
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishedPackages, readManifest, root } from '@payment-service/release/toolchains';
import { afterAll, expect, test } from 'vitest';
import {
  type Dependency,
  dependencyProblems,
  publishedDependencies,
  writeBillOfMaterials,
} from '../src/dependencies.ts';

const scratch = mkdtempSync(join(tmpdir(), 'dependencies-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const declared = new Set(
  globSync('packages/!(pages)/package.json', { cwd: root }).flatMap((path) => {
    const { dependencies = {} }: { dependencies?: Record<string, string> } = JSON.parse(
      readFileSync(join(root, path), 'utf8'),
    );
    return Object.keys(dependencies).filter((name) => !name.startsWith('@payment-service/'));
  }),
);
const dependencies = await publishedDependencies();

test('every dependency of the published packages has an accepted licence and no install script', () => {
  expect(dependencies.map(({ name }) => name)).toEqual(expect.arrayContaining([...declared]));
  expect(dependencyProblems(dependencies)).toEqual([]);
});

test('no published package has an install script', () => {
  const own = publishedPackages().map(({ folder }) => readManifest<Dependency>(join(folder, 'package.json')));
  expect(dependencyProblems(own)).toEqual([]);
});

test('the bill of materials lists exactly the packages that users install', async () => {
  const path = join(scratch, 'sbom.json');
  await writeBillOfMaterials(path, dependencies);
  const bill: { bomFormat: string; components: { group?: string; name: string; version: string }[] } =
    JSON.parse(readFileSync(path, 'utf8'));
  expect(bill.bomFormat).toBe('CycloneDX');
  const listed = bill.components
    .filter(({ group }) => group !== '@payment-service')
    .map(({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name} ${version}`);
  expect(listed.sort()).toEqual(dependencies.map(({ name, version }) => `${name} ${version}`).sort());
});

test('control: another licence, an install script and a native module are reported', () => {
  const good: Dependency = { name: 'a', version: '1.0.0', license: 'MIT', hasGypFile: false };
  expect(
    dependencyProblems([
      { ...good, scripts: { test: 'x' } },
      { ...good, license: 'GPL-3.0' },
      { ...good, scripts: { postinstall: 'x' } },
      { ...good, hasGypFile: true },
    ]),
  ).toEqual([
    'a 1.0.0 has the licence GPL-3.0',
    'a 1.0.0 runs postinstall where users install',
    'a 1.0.0 is compiled where users install',
  ]);
});
