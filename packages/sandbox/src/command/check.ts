import type { CheckReport } from '../check/check.ts';
import { print } from './outcome.ts';

const COLOURS = { pass: 'green', warn: 'yellow', fail: 'red' } as const;

/** Prints one line for each case, and below it what to do. */
export function printCheck({ url, ok, results }: CheckReport, stream: NodeJS.WriteStream): void {
  print(stream, `Check of ${url}`);
  const widths = (['title', 'expected'] as const).map((name) =>
    Math.max(...results.map((result) => result[name].length)),
  );
  const [title = 0, expected = 0] = widths;
  for (const result of results) {
    const line = `  ${result.verdict}  ${result.title.padEnd(title)}  ${result.expected.padEnd(expected)}  ${result.got}`;
    print(stream, line, COLOURS[result.verdict]);
    if (result.fix !== '') print(stream, `        ${result.fix}`);
  }
  const failed = results.filter(({ verdict }) => verdict === 'fail').length;
  const last = ok ? 'No case failed.' : `${failed} of ${results.length} cases failed.`;
  print(stream, last, ok ? 'green' : 'red');
}
