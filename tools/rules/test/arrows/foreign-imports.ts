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
