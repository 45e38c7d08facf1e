import { posix } from 'node:path';
import type { WorkspacePackage } from '../manifests.ts';
import { codeSpans, fencedBlocks } from '../markdown.ts';
import type { TextFile } from '../repository.ts';

/** What a command in a document may refer to. */
export interface Commands {
  readonly packages: readonly WorkspacePackage[];
  readonly exists: (path: string) => boolean;
}

const PNPM_OWN = ['install', 'add', 'exec', 'dlx', 'pack'];
/** Commands for readers' own projects, and for the owners of the packages. */
const NPM_OWN = ['run', 'ls', 'deprecate', 'dist-tag'];
const OTHER_TOOLS = ['curl', 'cd'];

/**
 * Commands in a document that cannot work: scripts, packages, files and programs that do not exist. Readers copy
 * commands first.
 */
export function unknownCommands(document: TextFile, known: Commands): readonly string[] {
  const blocks = fencedBlocks(document.text).filter(({ info }) => /^(sh|bash|shell|console)$/.test(info));
  const lines = blocks.flatMap(({ code }) => code.replaceAll('\\\n', ' ').split('\n'));
  const spans = codeSpans(document.text).filter((span) => /^(npx|pnpm|npm) /.test(span));
  return [...lines, ...spans]
    .map((line) =>
      line
        .replace(/(^|\s)#.*$/, '')
        .replace(/^\$ /, '')
        .trim(),
    )
    .flatMap((line) => line.split(/\s+(?:&&|\|\||[|;])\s+/))
    .filter((command) => command !== '')
    .filter((command) => !works(command.split(/\s+/), posix.dirname(document.path), known))
    .map((command) => `${document.path}: ${command}`);
}

function works([name = '', ...args]: readonly string[], folder: string, known: Commands): boolean {
  if (/^\w+=/.test(name)) return works(args, folder, known);
  if (name === 'npx') return works(args[0] === '-y' ? args.slice(1) : args, folder, known);
  if (/^pnpm(@[\d.]+)?$/.test(name)) return pnpmWorks(args, folder, known);
  if (name === 'npm') return isInstall(args, known) || NPM_OWN.includes(args[0] ?? '');
  if (name === 'node' || name === 'python3') {
    const file = args.find((arg) => !arg.startsWith('-')) ?? '';
    return known.exists(file) || known.exists(posix.join(folder, file));
  }
  const isOurs = known.packages.some(
    ({ manifest }) =>
      Object.keys(manifest.bin ?? {}).includes(name) || (name === manifest.name && manifest.bin),
  );
  return isOurs || OTHER_TOOLS.includes(name);
}

function pnpmWorks(args: readonly string[], folder: string, { packages, ...rest }: Commands): boolean {
  const [first = '', second = '', ...others] = args;
  if (first === '--filter') {
    const own = packages.filter(({ manifest }) => manifest.name === second);
    return (
      own.length > 0 &&
      pnpmWorks(others, folder, { packages: own.map(({ manifest }) => ({ manifest, folder: '' })), ...rest })
    );
  }
  if (PNPM_OWN.includes(first))
    return isInstall(args, { packages, ...rest }) || first === 'exec' || first === 'pack';
  const isHere = packages.filter((one) => one.folder === '');
  return isHere.some(({ manifest }) => (first === 'run' ? second : first) in (manifest.scripts ?? {}));
}

function isInstall([verb = '', ...names]: readonly string[], { packages }: Commands): boolean {
  const ours = names.filter((name) => name.startsWith('@payment-service/'));
  const areThere = ours.every((name) =>
    packages.some(({ manifest }) => manifest.name === name && !manifest.private),
  );
  return ['install', 'i', 'add', 'dlx'].includes(verb) && areThere;
}
