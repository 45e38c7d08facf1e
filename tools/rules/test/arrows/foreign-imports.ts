import { posix } from 'node:path';
import type { WorkspacePackage } from '../../src/manifests.ts';
import type { TextFile } from '../../src/repository.ts';

/** The modules that a source file imports or re-exports. */
export function importedModules(source: string): readonly string[] {
  const statements = source.matchAll(/^(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm);
  const bare = source.matchAll(/^import\s*['"]([^'"]+)['"]/gm);
  const dynamic = source.matchAll(/(?<![\w.#])(?:import|require)\(\s*['"]([^'"]+)['"]/g);
  return [...statements, ...bare, ...dynamic].map(([, module = '']) => module);
}

/**
 * Relative imports that lead from a package into another one: the compiler resolves them, and a user's installation does not.
 * An import of a name that another package does not export fails the compiler, and one that package.json does not declare
 * fails knip.
 */
export function foreignImports(
  packages: readonly WorkspacePackage[],
  files: readonly TextFile[],
): readonly string[] {
  const folders = packages.map(({ folder }) => folder).filter((folder) => folder !== '');
  const homeOf = (path: string): string | undefined =>
    folders.find((folder) => path.startsWith(`${folder}/`));
  return (
    files
      // The files of tools/ itself belong to no package.
      .filter(({ path }) => /\.[cm]?tsx?$/.test(path) && homeOf(path) !== undefined)
      .flatMap(({ path, text }) =>
        importedModules(text)
          .filter((module) => {
            const target = module.startsWith('.') && homeOf(posix.join(posix.dirname(path), module));
            return target && target !== homeOf(path);
          })
          .map((module) => `${path}: ${module}`),
      )
  );
}

/**
 * The rooms of a package that import each other, directly or through others. A room is a folder of `src`, or a file beside
 * those folders. The linter finds circles of files; two rooms can import each other without one.
 */
export function roomCircles(folder: string, files: readonly TextFile[]): readonly string[] {
  const source = `${folder}/src/`;
  const roomOf = (path: string): string => path.slice(source.length).split('/')[0] ?? '';
  const used = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    if (!path.startsWith(source) || !path.endsWith('.ts')) continue;
    const targets = importedModules(text).map((module) => posix.join(posix.dirname(path), module));
    const rooms = targets.filter((target) => target.startsWith(source)).map(roomOf);
    const others = rooms.filter((room) => room !== roomOf(path));
    used.set(roomOf(path), new Set([...(used.get(roomOf(path)) ?? []), ...others]));
  }
  const below = (room: string): Set<string> => {
    // A set can grow while it is iterated.
    const found = new Set(used.get(room));
    for (const one of found) for (const next of used.get(one) ?? []) found.add(next);
    return found;
  };
  return [...used.keys()].filter((room) => below(room).has(room)).map((room) => `${folder}: ${room}`);
}
