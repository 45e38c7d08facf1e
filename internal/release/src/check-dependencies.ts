// `pnpm dependencies`: lists what users install with the packages, writes reports/sbom.cdx.json, and fails where a
// licence is not accepted or a script would run on installation.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { dependencyProblems, publishedDependencies, writeBillOfMaterials } from './dependencies.ts';

const root = join(import.meta.dirname, '../../..');
const dependencies = publishedDependencies(root);
for (const { name, version, license } of dependencies)
  console.log(`${license.padEnd(12)} ${name} ${version}`);
mkdirSync(join(root, 'reports'), { recursive: true });
writeBillOfMaterials(root, join(root, 'reports/sbom.cdx.json'));
console.log('Wrote reports/sbom.cdx.json.');

const problems = dependencyProblems(dependencies);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
