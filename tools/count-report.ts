/** The tests of one package that passed, and a line for everything that did not. */
export interface Counts {
  readonly passed: number;
  readonly failures: readonly string[];
}

/** The members of vitest's JSON report that are needed to count. */
interface FileResult {
  readonly name: string;
  readonly status?: string;
  readonly message?: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages?: readonly string[];
  }[];
}

/**
 * Counts vitest's report on one package. Only a test that ran and passed counts as passed: a skipped test, a missing or broken
 * report, a suite that did not load and a test file that did not run are all failures. Each is named by the file, the test and
 * the first line of its message.
 *
 * @param text the report, or undefined if none was written.
 * @param testFiles the package's test files, as paths from the root with slashes.
 */
export function countReport(text: string | undefined, testFiles: readonly string[]): Counts {
  const { success, testResults } = parseReport(text);
  if (testResults === undefined) return { passed: 0, failures: ['wrote no report that can be read'] };
  const ran = testResults.map(({ name }) => name.replaceAll('\\', '/'));
  const forgotten = testFiles.filter((file) => !ran.some((name) => name.endsWith(`/${file}`)));
  const failures = [...testResults.flatMap(failuresOf), ...forgotten.map((file) => `${file}: did not run`)];
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const passed = tests.filter(({ status }) => status === 'passed').length;
  if (failures.length === 0 && !(success && passed > 0))
    failures.push('failed outside its tests, or has none');
  return { passed, failures };
}

function failuresOf({ name, status, message, assertionResults }: FileResult): readonly string[] {
  const file = name.replaceAll('\\', '/').split('/').slice(-2).join('/');
  const failed = assertionResults.filter((result) => result.status !== 'passed');
  // A suite that failed to load has no tests.
  if (failed.length === 0) return status === 'failed' ? [`${file}: ${firstLine(message)}`] : [];
  return failed.map(
    ({ fullName, status: outcome, failureMessages = [] }) =>
      `${file} > ${fullName}: ${firstLine(failureMessages[0]) || outcome}`,
  );
}

function firstLine(text = ''): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

function parseReport(text = ''): { success?: boolean; testResults?: readonly FileResult[] } {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    // Cut off, for example because the disk was full: counted as a failure, like a missing report.
    return {};
  }
}
