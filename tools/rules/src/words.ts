import { tableRows } from './markdown.ts';
import type { TextFile } from './repository.ts';

/** Words that no file may contain, and what to say instead. */
export type Words = readonly (readonly [pattern: RegExp, instead: string])[];

export const MACHINE_NAMES: Words = [
  // A URL's path, a glob and a regular expression do not begin like this; /var/tmp exists on every Linux.
  [
    /(?<![\w.:*/)\\-])(?!\/var\/tmp\b)\/(?:home|Users|root|tmp|work|var|opt|mnt)\/[\w.]/,
    'no folder of one machine',
  ],
  [/(?<![\w/])~\/[\w.]/, 'no folder of one machine'],
  [/\b[A-Z]:\\\w/, 'no folder of one machine'],
  // The registry's host depends on the machine that installs.
  [/\b(?:registry|npm|packages?|mirror)\.[a-z][\w-]*\.[a-z]{2,}/i, 'no host of a registry'],
  [/\b(?:unpkg|jsdelivr|npmmirror|npmjs|(?<!@)yarnpkg|jfrog)\b(?!\s+\d)/i, 'no host of a registry'],
];

/**
 * Words of the column "we do not say" that also have an ordinary meaning. They are wrong only if they replace the word next to
 * them, which a reader must judge.
 */
const ORDINARY = ['return', 'callback', 'secret', 'payload', 'trusted data', 'event id', 'order'];

/** The words that the glossary excludes. */
export function excludedWords(glossary: string): Words {
  const words = tableRows(glossary).flatMap(([say = '', , never = '']) =>
    never.split(',').map((word) => [word.trim(), say] as const),
  );
  return words
    .filter(([word]) => word !== '' && !ORDINARY.includes(word))
    .map(([word, say]) => [new RegExp(`(?<![a-z])${word.split(' ').join('[ _-]?')}`, 'i'), say]);
}

/** Names of other projects, and an event of `pg`. */
const PERMITTED =
  /@octokit\/webhooks(?:-methods)?|standardwebhooks|Standard Webhooks|webhooks\.constructEvent|['"]notification['"]/g;

/** The lines of a file that contain one of the words. */
export function saidIn({ path, text }: TextFile, words: Words): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const rest = line.replace(PERMITTED, '');
    return words.flatMap(([pattern, instead]) => {
      const [found] = pattern.exec(rest) ?? [];
      return found === undefined ? [] : [`${path}:${index + 1}: "${found}" (${instead})`];
    });
  });
}
