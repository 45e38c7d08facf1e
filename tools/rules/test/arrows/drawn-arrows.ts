import { basename } from 'node:path';
import { adapters, type WorkspacePackage } from '../../src/manifests.ts';

/** Which packages may use each other, by folder name: `core`, `express`, `shop`. */
export type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Reads the arrows of ARCHITECTURE.md: lines such as `openapi → core → express | koa → apps/shop`, where each name may
 * be used by every one to its right. The drawing is the only list of them.
 */
export function drawnArrows(section: string): Arrows {
  const allowed = new Map<string, Set<string>>();
  for (const line of section.split('\n').filter((text) => /^ {4}.*→/.test(text))) {
    const seen: string[] = [];
    for (const group of line.split('→').map(namesIn)) {
      for (const name of group) allowed.set(name, new Set([...(allowed.get(name) ?? []), ...seen]));
      seen.push(...group);
    }
  }
  return allowed;
}

function namesIn(group: string): readonly string[] {
  const text = group.replace(/\(.*?\)/g, '').trim();
  if (text === 'the adapters') return adapters;
  return text.split('|').map((name) => name.trim().split('/').at(-1) ?? '');
}

const SCOPE = '@payment-service/';

/**
 * Dependencies between packages of the workspace that no arrow allows, as `who uses whom`.
 *
 * A drawn package follows its arrows, and a published one never needs a private one. Development has more freedom: tests may
 * mount everything that a user could, and use the private packages that export something; turbo refuses cycles. Private
 * packages that are not drawn may use every public name.
 */
export function undrawnDependencies(
  packages: readonly WorkspacePackage[],
  arrows: Arrows,
): readonly string[] {
  const exported = new Set(
    packages.filter(({ manifest }) => manifest.exports ?? manifest.bin).map(({ manifest }) => manifest.name),
  );
  const isPrivate = (name: string): boolean =>
    packages.some(({ manifest }) => manifest.name === name && manifest.private === true);

  return packages.flatMap(({ folder, manifest }) => {
    const own = basename(folder);
    const { dependencies, peerDependencies, devDependencies = {}, optionalDependencies } = manifest;
    const isOutside = !arrows.has(own) && !folder.startsWith('packages/') && !folder.startsWith('apps/');
    const mayNeed = (name: string): boolean =>
      isOutside
        ? exported.has(name)
        : arrows.get(own)?.has(name.slice(SCOPE.length)) === true &&
          (manifest.private === true || !isPrivate(name));
    const needed = { ...dependencies, ...peerDependencies, ...optionalDependencies };
    const wrong = [
      ...Object.keys(needed).filter((name) => !mayNeed(name)),
      ...Object.keys(devDependencies).filter((name) => !exported.has(name)),
    ];
    return wrong.filter((name) => name.startsWith(SCOPE)).map((name) => `${own || 'the root'} uses ${name}`);
  });
}
