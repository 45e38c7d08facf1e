// `pnpm metadata`: writes the repository that the root's package.json names into the published packages: their
// package.json and the links of their READMEs.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { absoluteLinks, type Metadata, packageMetadata } from './metadata.ts';

const root = join(import.meta.dirname, '../../..');
const own: Metadata = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

for (const path of globSync('packages/*/package.json', { cwd: root })) {
  const folder = dirname(path).replaceAll('\\', '/');
  const { homepage, bugs, repository, ...manifest }: Partial<Metadata> & Record<string, unknown> = JSON.parse(
    readFileSync(join(root, path), 'utf8'),
  );
  const previous = homepage?.split('/tree/')[0] ?? own.homepage;
  const members = Object.entries(manifest);
  // After the licence, where readers look for them.
  const at = members.findIndex(([name]) => name === 'license') + 1;
  members.splice(at, 0, ...Object.entries(packageMetadata(own, folder)));
  writeFileSync(join(root, path), `${JSON.stringify(Object.fromEntries(members), null, 2)}\n`);
  const readme = join(root, folder, 'README.md');
  writeFileSync(readme, absoluteLinks(readFileSync(readme, 'utf8'), folder, own.homepage, previous));
}
console.log('Wrote the metadata of the published packages.');
