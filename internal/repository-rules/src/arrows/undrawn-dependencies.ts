import { basename } from 'node:path';
import type { WorkspacePackage } from '../manifests.ts';
import type { Arrows } from './drawn-arrows.ts';

/** Private packages that look at the others from outside; nothing is built on them. */
const OBSERVERS = ['compatibility', 'contract', 'repository-rules', 'benchmarks'];
/** What only development uses: the contract's data and its vectors, the suite for adapters, the older toolchains. */
const DEV_ONLY = ['openapi', 'adapter-conformance', 'toolchains', 'pnpm'];
const SCOPE = '@payment-service/';

/** Dependencies between packages of the workspace that no arrow allows, `who → on whom`. */
export function undrawnDependencies(
  packages: readonly WorkspacePackage[],
  arrows: Arrows,
): readonly string[] {
  const isPublic = (name: string): boolean =>
    packages.some((one) => one.manifest.name === SCOPE + name && one.manifest.private !== true);
  return packages.flatMap(({ folder, manifest }) => {
    const own = basename(folder);
    const { dependencies, peerDependencies, devDependencies, optionalDependencies } = manifest;
    const isPublished = manifest.private !== true;
    const mayUse = (name: string): boolean =>
      (OBSERVERS.includes(own) && !OBSERVERS.includes(name)) || (arrows.get(own)?.has(name) ?? false);
    const used = namesIn({ ...dependencies, ...peerDependencies, ...optionalDependencies }).filter(
      (name) => !mayUse(name) || (isPublished && DEV_ONLY.includes(name)),
    );
    // Tests may mount whatever a user could; turbo refuses a circle.
    const tried = namesIn(devDependencies ?? {}).filter(
      (name) => !isPublic(name) && !DEV_ONLY.includes(name),
    );
    return [...used, ...tried].map((name) => `${own || 'the root'} uses ${name}`);
  });
}

function namesIn(dependencies: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(dependencies)
    .filter((name) => name.startsWith(SCOPE))
    .map((name) => name.slice(SCOPE.length));
}
