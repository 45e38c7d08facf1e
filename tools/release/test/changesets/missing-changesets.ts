import { parse } from 'yaml';
import {
  type Bump,
  bumpFor,
  contractDifference,
  type Difference,
  furthest,
  surfaceDifference,
} from './surface-change.ts';

/** The files of one state of the repository, by path from the root: reports, contract, changesets and manifests. */
export type Files = ReadonlyMap<string, string>;

const BUMPS: readonly Bump[] = ['patch', 'minor', 'major'];
const CORE = 'packages/core';

/**
 * The published packages whose public API or contract differs from an earlier state by more than the changesets since
 * then announce, one line each, with the version step that the difference asks for. Versions that have been raised since
 * count like the changesets that raised them.
 */
export function missingChangesets(before: Files, after: Files): readonly string[] {
  return [...after].flatMap(([path, text]) => {
    const [, folder] = /^(packages\/[^/]+)\/package\.json$/.exec(path) ?? [];
    if (folder === undefined) return [];
    const manifest: { name: string; version: string; private?: boolean } = JSON.parse(text);
    const former = before.get(path);
    // A new package gets its first version from a changeset; another rule asks for it.
    if (manifest.private === true || former === undefined) return [];
    const { version }: { version: string } = JSON.parse(former);
    const difference = differenceOf(folder, before, after);
    const needed = bumpFor(difference.change, version);
    if (needed === undefined) return [];
    const announced = [...announcedFor(manifest.name, before, after), step(version, manifest.version)];
    if (announced.some((bump) => bump !== undefined && BUMPS.indexOf(bump) >= BUMPS.indexOf(needed)))
      return [];
    return [
      `${manifest.name}: "${difference.line}" is ${describe(difference)}, which asks for a changeset with "${needed}" or more`,
    ];
  });
}

function differenceOf(folder: string, before: Files, after: Files): Difference {
  const paths = new Set([...before.keys(), ...after.keys()]);
  const differences = [...paths].flatMap((path) => {
    const [old, now] = [before.get(path) ?? '', after.get(path) ?? ''];
    if (path.startsWith(`${folder}/api/`)) return surfaceDifference(old, now);
    return folder === CORE && path.startsWith('openapi/') ? contractDifference(old, now) : [];
  });
  return furthest(differences);
}

/** The steps of changesets that are new or changed. */
function announcedFor(name: string, before: Files, after: Files): readonly (Bump | undefined)[] {
  return [...after]
    .filter(([path, text]) => path.startsWith('.changeset/') && before.get(path) !== text)
    .map(([, text]) => {
      const [, front = ''] = /^---\n([\s\S]*?)\n---/.exec(text) ?? [];
      return (parse(front) as Record<string, Bump> | null)?.[name];
    });
}

function step(before: string, after: string): Bump | undefined {
  const [old, now] = [before.split('.'), after.split('.')];
  const at = now.findIndex((part, index) => part !== old[index]);
  return [...BUMPS].reverse()[at];
}

function describe({ change }: Difference): string {
  if (change === 'breaking') return 'gone, changed or newly required';
  return change === 'addition' ? 'new' : 'worded differently';
}
