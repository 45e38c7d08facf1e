/** What one check, or the tests of one package, add to the last line. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** The members of vitest's JSON report that are needed to count. */
interface Report {
  readonly success: boolean;
  readonly numTotalTests: number;
  readonly numPassedTests: number;
  readonly testResults: readonly FileResult[];
}

interface FileResult {
  readonly name: string;
  readonly status?: string;
  readonly message?: string;
  readonly assertionResults?: readonly TestResult[];
}

interface TestResult {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages?: readonly string[];
}

/**
 * Counts vitest's report on one package. Only a test that ran and passed counts as passed: a skipped test, a missing or broken
 * report, a suite that did not load and a test file that did not run all count as failed.
 *
 * @param text the report, or undefined if none was written.
 * @param testFiles the package's test files, as paths from the root with slashes.
 */
export function countReport(text: string | undefined, testFiles: readonly string[]): Counts {
  const report = parseReport(text);
  if (report === undefined) return { passed: 0, failed: 1 };
  const { success, numTotalTests, numPassedTests: passed, testResults } = report;
  const ran = testResults.map(({ name }) => name.replaceAll('\\', '/'));
  const forgotten = testFiles.filter((file) => !ran.some((name) => name.endsWith(`/${file}`)));
  const other = numTotalTests - passed + forgotten.length;
  // A suite that failed to load has no tests to count.
  return { passed, failed: success && passed > 0 ? other : Math.max(other, 1) };
}

/**
 * Lists the failures in vitest's report on one package, for the summary: the file, the test and the first line of its
 * message.
 */
export function failuresIn(text: string | undefined): string[] {
  const report = parseReport(text);
  if (report === undefined) return ['wrote no report that can be read'];
  return report.testResults.flatMap(({ name, status, message, assertionResults = [] }) => {
    const file = name.replaceAll('\\', '/').split('/').slice(-2).join('/');
    const failed = assertionResults.filter((result) => result.status !== 'passed');
    if (failed.length === 0) return status === 'failed' ? [`${file}: ${firstLine(message)}`] : [];
    return failed.map(
      ({ fullName, status: outcome, failureMessages = [] }) =>
        `${file} > ${fullName}: ${firstLine(failureMessages[0]) || outcome}`,
    );
  });
}

function firstLine(text = ''): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

function parseReport(text: string | undefined): Report | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isReport(value) ? value : undefined;
  } catch {
    // Cut off, for example because the disk was full: counted as a failure, like a missing report.
    return undefined;
  }
}

function isReport(value: unknown): value is Report {
  if (typeof value !== 'object' || value === null) return false;
  const { success, numTotalTests, numPassedTests, testResults } = value as Partial<Report>;
  const areCounts = Number.isInteger(numTotalTests) && Number.isInteger(numPassedTests);
  return typeof success === 'boolean' && areCounts && Array.isArray(testResults);
}
