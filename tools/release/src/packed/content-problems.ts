import { posix } from 'node:path';
import { type PackedFile, textOf } from '@payment-service/release/toolchains';

const ALLOWED =
  /^(dist\/.+\.(js|cjs|d\.ts|d\.cts|LICENSE)|(AGENTS|CHANGELOG|README)\.md|LICENSE|package\.json)$/;
// A home folder, a temporary folder or a drive: a path of the machine that built it.
const MACHINE_PATH = /(?<![\w.:/])(?:\/(?:home|Users|root|tmp|var|work|mnt|opt)\/|[A-Z]:\\\\?)\w/;

/** What a tarball contains but should not, or lacks but should contain; one line each. */
export function contentProblems(files: readonly PackedFile[]): string[] {
  const names = files.map(({ name }) => name);
  const problems = ['README.md', 'AGENTS.md', 'LICENSE', 'package.json']
    .filter((name) => !names.includes(name))
    .map((name) => `${name} is missing`);
  for (const file of files) {
    const { name } = file;
    if (!ALLOWED.test(name)) problems.push(`${name} is published`);
    const text = textOf(file);
    const path = MACHINE_PATH.exec(text);
    if (path !== null) problems.push(`${name} names a path of a machine: ${path[0]}`);
    for (const [, map = ''] of text.matchAll(/sourceMappingURL=(\S+)/g)) {
      if (!names.includes(posix.join(posix.dirname(name), map)))
        problems.push(`${name} names a missing source map: ${map}`);
    }
    if (name === 'package.json' && /"(workspace|catalog|link|file):/.test(text))
      problems.push('package.json names a version that only the workspace knows');
  }
  return problems;
}
