import { matchesGlob } from 'node:path';
import type { WorkspacePackage } from '../manifests.ts';

/** The test command counts only what it finds in this report. */
const REPORT = '--outputFile.json=.test-report.json';

/**
 * Packages whose code is not checked by any script of the test command.
 *
 * @param program tsconfig.all.json: what it leaves out needs its own script.
 */
export function uncheckedPackages(
  packages: readonly WorkspacePackage[],
  filesOf: (folder: string) => readonly string[],
  program: { readonly include: readonly string[]; readonly exclude: readonly string[] },
): readonly string[] {
  return packages
    .filter(({ folder }) => folder !== '')
    .flatMap(({ folder, manifest: { scripts: { typecheck, test } = {} } }) => {
      const files = filesOf(folder);
      const problems: string[] = [];
      const code = files.filter((path) => path.endsWith('.ts')).map((path) => `${folder}/${path}`);
      const isIncluded = program.include.some((glob) =>
        code.some((path) => matchesGlob(path, glob.endsWith('.ts') ? glob : `${glob}/**`)),
      );
      if (code.length > 0 && !typecheck && (!isIncluded || program.exclude.includes(folder)))
        problems.push('no script typecheck');
      if (files.some((path) => path.endsWith('.test.ts')) && !test) problems.push('no script test');
      if (test && !test.includes(REPORT)) problems.push('a script test without the report');
      return problems.map((problem) => `${folder}: ${problem}`);
    });
}
