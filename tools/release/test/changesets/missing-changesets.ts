import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { git } from '../../src/repository.ts';

/** The files of one state of the repository, by path from the root: reports, contract, changesets and manifests. */
export type Files = ReadonlyMap<string, string>;

const CORE = '@payment-service/core';
const PATHS = [
  '.changeset/*.md',
  'openapi/*.yaml',
  'openapi/signature-vectors.json',
  'packages/*/api/*.md',
  'packages/*/package.json',
];

/**
 * The commits that this state of the repository is compared with: where it branched from the main branch (on the main branch,
 * the parent of the last commit), and the last release.
 *
 * @returns nothing in a checkout without history.
 */
export async function earlierCommits(root: string): Promise<ReadonlyMap<string, string>> {
  const found = [
    ['the main branch', await output(root, 'merge-base', 'HEAD^', 'origin/main')],
    ['the last release', await output(root, 'describe', '--tags', '--abbrev=0', '--match', `${CORE}@*`)],
  ] as const;
  return new Map(found.flatMap(([what, commit]) => (commit === undefined ? [] : [[what, commit]])));
}

/** The files that decide about versions, at a commit. */
export async function filesAt(root: string, commit: string): Promise<Files> {
  const specs = PATHS.map((path) => `:(glob)${path}`);
  const list = (await output(root, 'ls-files', `--with-tree=${commit}`, '--', ...specs)) ?? '';
  const files = new Map<string, string>();
  for (const path of list.split('\n')) {
    const text = await output(root, 'show', `${commit}:${path}`);
    if (text !== undefined) files.set(path, text);
  }
  return files;
}

/** The same files as they are now, committed or not. */
export function filesNow(root: string): Files {
  const paths = globSync(PATHS, { cwd: root }).map((path) => path.replaceAll('\\', '/'));
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8').trimEnd()]));
}

/** The output of git; undefined if there is no such branch, tag or file, or no repository. */
const output = (root: string, ...args: readonly string[]): Promise<string | undefined> =>
  git(root, ...args).then(
    (text) => text.trimEnd(),
    () => undefined,
  );

/** From the smallest. */
const STEPS = ['none', 'patch', 'minor', 'major'] as const;
type Step = (typeof STEPS)[number];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
}

/**
 * The published packages whose public API or contract differs from an earlier state without a new changeset or a raised version, and
 * those whose changesets announce a smaller step than their reports need: a line that was removed or changed is breaking.
 */
export function missingChangesets(before: Files, after: Files): readonly string[] {
  const differs = (path: string): boolean => before.get(path) !== after.get(path);
  const announced = [...after].filter(([path]) => path.startsWith('.changeset/'));
  const steps = announced.map(([path, text]) => [path, stepsIn(text)] as const);
  return [...after].flatMap(([path, text]) => {
    const [, folder] = /^(packages\/[^/]+)\/package\.json$/.exec(path) ?? [];
    const former = before.get(path);
    // A new package gets its first version from a changeset; another rule asks for it.
    if (folder === undefined || former === undefined) return [];
    const manifest: Manifest = JSON.parse(text);
    if (manifest.private === true) return [];
    const { name, version } = manifest;
    const raised = stepBetween(JSON.parse(former).version, version);
    const own = steps.flatMap(([from, all]) => (all[name] === undefined ? [] : [[from, all[name]] as const]));
    const isAnnounced = raised !== 'none' || own.some(([from]) => differs(from));
    const given = greatest([raised, ...own.map(([, step]) => step)]);
    const isOwn = (one: string): boolean =>
      one.startsWith(`${folder}/api/`) || (folder === 'packages/core' && one.startsWith('openapi/'));
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (one) => isOwn(one) && differs(one),
    );
    return changed.flatMap((one) => {
      if (!isAnnounced) return [`${name}: ${one} differs, and no changeset announces it`];
      const isBreaking = one.includes('/api/') && hasLost(before.get(one), after.get(one));
      const needed = stepFor(isBreaking, version);
      return STEPS.indexOf(given) >= STEPS.indexOf(needed)
        ? []
        : [`${name}: ${one} has lost or changed a line, which needs a ${needed} changeset; it has ${given}`];
    });
  });
}

/** By package, what a changeset announces. */
function stepsIn(text: string): Readonly<Record<string, Step>> {
  const [, front = ''] = /^---\n([\s\S]*?)\n---/.exec(text) ?? [];
  return (parse(front) as Record<string, Step> | null) ?? {};
}

const greatest = (steps: readonly Step[]): Step => STEPS.findLast((step) => steps.includes(step)) ?? 'none';

function stepBetween(former: string, version: string): Step {
  const [one, other] = [former, version].map((text) => text.split('-')[0]?.split('.') ?? []);
  const at = ['major', 'minor', 'patch'] as const;
  return at.find((_, index) => one?.[index] !== other?.[index]) ?? 'none';
}

/** Below 1.0.0, a breaking change is minor, and everything else a patch. */
function stepFor(isBreaking: boolean, version: string): Step {
  const isStable = !version.startsWith('0.');
  return isBreaking ? (isStable ? 'major' : 'minor') : isStable ? 'minor' : 'patch';
}

/** Whether a line of a report is no longer in it, however often. An import says nothing of the API. */
function hasLost(before = '', after = ''): boolean {
  const linesOf = (text: string): string[] =>
    text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('import '));
  const left = linesOf(after);
  return linesOf(before).some((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
