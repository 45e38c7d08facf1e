import { posix } from 'node:path';
import { codeSpans } from '../markdown.ts';
import type { TextFile } from '../repository.ts';

/**
 * Paths and package names in backticks that do not exist. `src/…` and `test/…` may belong to any package: documents
 * speak of "each package", too.
 */
export function missingPaths(
  document: TextFile,
  files: readonly TextFile[],
  packageNames: readonly string[],
): readonly string[] {
  const topFolders = new Set(
    files.filter(({ path }) => path.includes('/')).map(({ path }) => path.split('/')[0]),
  );
  const isThere = (path: string): boolean =>
    files.some((file) => file.path === path || file.path.startsWith(`${path}/`));
  const isInSomePackage = (path: string): boolean =>
    files.some((file) => `${file.path}/`.includes(`/${path}/`));

  const isMissing = (span: string): boolean => {
    if (/^@payment-service\/[\w-]+$/.test(span)) return !packageNames.includes(span);
    if (!/^[\w.-]+(\/[\w.-]+)+\/?$/.test(span)) return false;
    const path = span.replace(/\/$/, '');
    if (/^(src|test)\//.test(path)) return !isInSomePackage(path);
    return (
      topFolders.has(path.split('/')[0]) &&
      !isThere(path) &&
      !isThere(posix.join(posix.dirname(document.path), path))
    );
  };
  return codeSpans(document.text)
    .filter(isMissing)
    .map((span) => `${document.path}: ${span}`);
}
