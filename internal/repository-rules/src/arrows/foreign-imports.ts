import { posix } from 'node:path';
import type { WorkspacePackage } from '../manifests.ts';
import type { TextFile } from '../repository.ts';

/** The modules that a source file imports or re-exports. */
export function importedModules(source: string): readonly string[] {
  const statements = source.matchAll(/^(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm);
  const bare = source.matchAll(/^import\s*['"]([^'"]+)['"]/gm);
  const dynamic = source.matchAll(/(?<![\w.#])(?:import|require)\(\s*['"]([^'"]+)['"]/g);
  return [...statements, ...bare, ...dynamic].map(([, module = '']) => module);
}

/** Imports of a package's published source that its package.json does not declare, or that leave its folder. */
export function undeclaredImports(
  { folder, manifest }: WorkspacePackage,
  files: readonly TextFile[],
): readonly string[] {
  // tsdown refuses to bundle anything that this list leaves out.
  const build = files.find(({ path }) => path === `${folder}/tsdown.config.ts`)?.text ?? '';
  const [, list = ''] = /onlyBundle: \[([^\]]*)\]/.exec(build) ?? [];
  const bundled = [...list.matchAll(/'([^']+)'/g)].map(([, name = '']) => name);
  const declared = [...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }), ...bundled];
  const isDeclared = (module: string, path: string): boolean => {
    if (module.startsWith('.')) {
      const target = posix.join(posix.dirname(path), module);
      // The build inlines the version; nothing reads the file at run time.
      return target.startsWith(`${folder}/src/`) || target === `${folder}/package.json`;
    }
    if (module.startsWith('#')) return module in (manifest.imports ?? {});
    return module.startsWith('node:') || declared.includes(packageOf(module));
  };
  return problemsIn(
    files.filter(({ path }) => path.startsWith(`${folder}/src/`)),
    isDeclared,
  );
}

/** Imports, in any file, of something of a workspace package that it does not export, or of its files directly. */
export function privateImports(
  packages: readonly WorkspacePackage[],
  files: readonly TextFile[],
): readonly string[] {
  const folders = packages.map(({ folder }) => folder).filter((folder) => folder !== '');
  const homeOf = (path: string): string | undefined =>
    folders.find((folder) => path.startsWith(`${folder}/`));
  const isPublic = (module: string, path: string): boolean => {
    if (module.startsWith('.')) {
      const target = homeOf(posix.join(posix.dirname(path), module));
      return target === undefined || target === homeOf(path);
    }
    const used = packages.find(({ manifest }) => manifest.name === packageOf(module));
    return (
      used === undefined || `.${module.slice(used.manifest.name.length)}` in (used.manifest.exports ?? {})
    );
  };
  return problemsIn(files, isPublic);
}

function problemsIn(
  files: readonly TextFile[],
  isAllowed: (module: string, path: string) => boolean,
): readonly string[] {
  return files
    .filter(({ path }) => /\.[cm]?tsx?$/.test(path))
    .flatMap(({ path, text }) =>
      importedModules(text)
        .filter((module) => !isAllowed(module, path))
        .map((module) => `${path}: ${module}`),
    );
}

function packageOf(module: string): string {
  return module.split('/', module.startsWith('@') ? 2 : 1).join('/');
}
