import { parse } from 'yaml';

/** The files of one state of the repository, by path from the root: reports, contract, changesets and manifests. */
export type Files = ReadonlyMap<string, string>;

const CORE = 'packages/core';

/**
 * The published packages whose public API or contract differs from an earlier state, and which neither a new changeset names nor
 * a version that has been raised since.
 */
export function missingChangesets(before: Files, after: Files): readonly string[] {
  const differs = (path: string): boolean => before.get(path) !== after.get(path);
  const announced = [...after].flatMap(([path, text]) => {
    if (!path.startsWith('.changeset/') || !differs(path)) return [];
    const [, front = ''] = /^---\n([\s\S]*?)\n---/.exec(text) ?? [];
    return Object.keys((parse(front) as object | null) ?? {});
  });
  return [...after].flatMap(([path, text]) => {
    const [, folder] = /^(packages\/[^/]+)\/package\.json$/.exec(path) ?? [];
    const former = before.get(path);
    // A new package gets its first version from a changeset; another rule asks for it.
    if (folder === undefined || former === undefined) return [];
    const manifest: { name: string; version: string; private?: boolean } = JSON.parse(text);
    const isRaised = manifest.version !== JSON.parse(former).version;
    if (manifest.private === true || isRaised || announced.includes(manifest.name)) return [];
    const isOwn = (one: string): boolean =>
      one.startsWith(`${folder}/api/`) || (folder === CORE && one.startsWith('openapi/'));
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (one) => isOwn(one) && differs(one),
    );
    return changed.map((one) => `${manifest.name}: ${one} differs, and no changeset announces it`);
  });
}
