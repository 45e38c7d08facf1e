import { parse } from 'yaml';
import type { WorkspacePackage } from '../manifests.ts';
import type { TextFile } from '../repository.ts';

/** What would make a changeset fail at the release, or useless for a user. */
export function changesetProblems(
  changesets: readonly TextFile[],
  packages: readonly WorkspacePackage[],
): readonly string[] {
  const published = packages.map(({ manifest }) => manifest.name);
  const named = new Set<string>();
  const problems = changesets.flatMap(({ path, text }) => {
    const [, front = '', sentence = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
    const bumps = Object.entries((parse(front) as Record<string, string> | null) ?? {});
    for (const [name] of bumps) named.add(name);
    const wrong = bumps.flatMap(([name, bump]) => [
      ...(published.includes(name) ? [] : [`${name} is not published`]),
      ...(['patch', 'minor', 'major'].includes(bump) ? [] : [`"${bump}" is not a version step`]),
    ]);
    if (bumps.length === 0) wrong.push('it names no package');
    if (!/^[A-Z`][\s\S]*\.$/.test(sentence.trim())) wrong.push('it holds no sentence for users');
    return wrong.map((problem) => `${path}: ${problem}`);
  });
  const unreleased = packages.filter(
    ({ manifest }) => manifest.version === '0.0.0' && !named.has(manifest.name),
  );
  return [
    ...problems,
    ...unreleased.map(({ manifest }) => `${manifest.name} has no version, and no changeset gives it one`),
  ];
}
