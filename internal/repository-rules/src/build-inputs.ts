import { matchesGlob, posix } from 'node:path';
import type { WorkspacePackage } from './manifests.ts';
import type { TextFile } from './repository.ts';

/** The members of a turbo.json that determine what the result of a task depends on. */
interface TurboConfig {
  readonly globalDependencies?: readonly string[];
  readonly tasks: Readonly<Record<string, { readonly cache?: boolean; readonly inputs?: readonly string[] }>>;
}

const CODE = /\.(ts|mts|mjs|js|json)$/;
const ROOT = '$TURBO_ROOT$/';
/** '../../vitest.shared.ts', '../../..' */
const ONE_STRING = /['"`]((?:\.\.\/)*\.\.(?:\/[^'"`\s$*{]*)?)['"`]/g;
/** join(import.meta.dirname, '..', '..', 'LICENSE') */
const SEVERAL_STRINGS = /'\.\.'(?:,\s*'[^']+')+/g;

/**
 * Files that a package reads outside its own folder without turbo knowing: after a change of such a file, an old result from
 * the cache counts as passed. Turbo knows the files of the package and of its workspace dependencies, the global dependencies,
 * and the inputs of the package's own turbo.json. A folder above all of these, such as the root, counts as known when
 * turbo.json names at least one input there.
 *
 * @param files the repository.
 */
export function untrackedInputs(
  { folder, manifest }: WorkspacePackage,
  packages: readonly WorkspacePackage[],
  files: readonly TextFile[],
): readonly string[] {
  const textAt = (path: string): string | undefined => files.find((file) => file.path === path)?.text;
  const own = readConfig(textAt(posix.join(folder, 'turbo.json')));
  if (own?.tasks['test']?.cache === false) return [];
  const globals = readConfig(textAt('turbo.json'))?.globalDependencies ?? [];
  const inputs = Object.values(own?.tasks ?? {})
    .flatMap((task) => task.inputs ?? [])
    .filter((input) => input.startsWith(ROOT))
    .map((input) => input.slice(ROOT.length));
  const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
    .map((name) => packages.find((one) => one.manifest.name === name)?.folder)
    .filter((found) => found !== undefined);
  const isWithin = (path: string, parent: string): boolean =>
    path === parent || path.startsWith(`${parent}/`);
  const exists = (path: string): boolean =>
    path === '.' || files.some((file) => file.path === path || file.path.startsWith(`${path}/`));
  const isKnown = (path: string): boolean =>
    [folder, ...dependencies].some((known) => isWithin(path, known)) ||
    [...globals, ...inputs].some((glob) => matchesGlob(path, glob)) ||
    inputs.some((glob) => path === '.' || isWithin(glob, path));
  return files
    .filter(({ path }) => isWithin(path, folder) && CODE.test(path))
    .flatMap(({ path, text }) =>
      pathsUp(text)
        .map((up) => posix.join(posix.dirname(path), up).replace(/\/$/, ''))
        .filter((target) => exists(target) && !isKnown(target))
        .map((target) => `${path} reads ${target === '.' ? 'the root' : target}`),
    );
}

function pathsUp(text: string): readonly string[] {
  const single = [...text.matchAll(ONE_STRING)].map(([, path = '']) => path);
  const joined = [...text.matchAll(SEVERAL_STRINGS)].map(([list]) =>
    posix.join(...list.split(',').map((part) => part.trim().slice(1, -1))),
  );
  return [...single.filter((path) => path !== '..'), ...joined];
}

/** turbo.json may hold comments. */
function readConfig(text: string | undefined): TurboConfig | undefined {
  return text === undefined ? undefined : JSON.parse(text.replace(/^\s*\/\/.*$/gm, ''));
}
