import { posix } from 'node:path';
import type { WorkspacePackage } from '../manifests.ts';
import type { TextFile } from '../repository.ts';
import { loadedModules } from '../syntax.ts';

/** Modules that a program that only receives callbacks does not need: the client, and the explanations for development. */
const APART = /^packages\/core\/src\/(client|explain)\//;

/**
 * How the published entries of the receiving packages reach the client, zod or the explanations, as a chain of files: a
 * merchant that only receives callbacks must not load or bundle any of them (decision D12).
 */
export function waysToTheClient(
  receiving: readonly WorkspacePackage[],
  packages: readonly WorkspacePackage[],
  files: readonly TextFile[],
): readonly string[] {
  const texts = new Map(files.map((file) => [file.path, file]));

  function walk(path: string, chain: readonly string[], seen: Set<string>): readonly string[] {
    const way = [...chain, path];
    if (path === 'zod' || APART.test(path)) return [way.join(' → ')];
    const file = texts.get(path);
    if (seen.has(path) || file === undefined) return [];
    seen.add(path);
    return loadedModules(file).flatMap((module) =>
      resolve(module, path, packages).flatMap((target) => walk(target, way, seen)),
    );
  }
  return receiving.flatMap(({ folder, manifest }) => {
    const seen = new Set<string>();
    const entries = targetsOf(Object.values(manifest.exports ?? {}));
    return entries.flatMap((entry) => walk(posix.join(folder, entry), [], seen));
  });
}

/** The files behind a module name; several where import conditions choose one. Other dependencies stay names. */
function resolve(module: string, from: string, packages: readonly WorkspacePackage[]): readonly string[] {
  if (module.startsWith('.')) return [posix.join(posix.dirname(from), module)];
  const home = packages.find(({ folder }) => folder !== '' && from.startsWith(`${folder}/`));
  if (module.startsWith('#')) {
    return targetsOf(home?.manifest.imports?.[module]).map((target) =>
      posix.join(home?.folder ?? '', target),
    );
  }
  const name = module.split('/', module.startsWith('@') ? 2 : 1).join('/');
  const used = packages.find(({ manifest }) => manifest.name === name);
  if (used === undefined) return [name];
  const entry = used.manifest.exports?.[`.${module.slice(name.length)}`];
  return targetsOf(entry).map((target) => posix.join(used.folder, target));
}

/** Every source file that an entry of `exports` or `imports` can stand for, whatever the condition. */
function targetsOf(entry: unknown): readonly string[] {
  if (typeof entry === 'string') return /\.[cm]?tsx?$/.test(entry) ? [entry] : [];
  return typeof entry === 'object' && entry !== null ? Object.values(entry).flatMap(targetsOf) : [];
}
