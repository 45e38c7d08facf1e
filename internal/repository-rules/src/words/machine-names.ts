import type { TextFile } from '../repository.ts';

const PATTERNS: readonly RegExp[] = [
  // A folder of one machine. A URL's path, a glob and a regular expression do not begin like this; /var/tmp exists on every
  // Linux.
  /(?<![\w.:*/)\\-])(?!\/var\/tmp\b)\/(?:home|Users|root|tmp|work|var|opt|mnt)\/[\w.]/,
  /(?<![\w/])~\/[\w.]/,
  /\b[A-Z]:\\\w/,
  // A host of a package registry, which depends on who installs.
  /\b(?:registry|npm|packages?|mirror)\.[a-z][\w-]*\.[a-z]{2,}/i,
  /\b(?:unpkg|jsdelivr|npmmirror|npmjs|(?<!@)yarnpkg|jfrog)\b(?!\s+\d)/i,
];

/** Lines that name a folder of one machine or the host of a package registry. */
export function machineNames({ path, text }: TextFile): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const found = PATTERNS.map((pattern) => pattern.exec(line)?.[0]).find((match) => match !== undefined);
    return found === undefined ? [] : [`${path}:${index + 1}: ${found}`];
  });
}
