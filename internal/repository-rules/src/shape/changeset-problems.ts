import { parse } from 'yaml';
import type { TextFile } from '../repository.ts';

/** Changesets that the release would refuse, or that tell a user nothing. */
export function changesetProblems(
  changesets: readonly TextFile[],
  published: readonly string[],
): readonly string[] {
  return changesets.flatMap(({ path, text }) => {
    const [, front = '', sentence = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
    const names = Object.keys((parse(front) as Record<string, string> | null) ?? {});
    const problems = names
      .filter((name) => !published.includes(name))
      .map((name) => `${name} is not published`);
    if (names.length === 0) problems.push('it names no package');
    if (!/^[A-Z`][\s\S]*\.$/.test(sentence.trim())) problems.push('it holds no sentence for users');
    return problems.map((problem) => `${path}: ${problem}`);
  });
}
