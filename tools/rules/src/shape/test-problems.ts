import type { TextFile } from '../repository.ts';

// A function that records its calls is not a mock; a replaced module, clock or network is.
const MOCK =
  /\bvi\.(?:mock|doMock|useFakeTimers|setSystemTime|stubGlobal\('(?:fetch|Date|crypto)'|spyOn\((?:Date|Math|globalThis|global|performance|crypto)\b)/;
const TIMED =
  /expect\([^)]*(?:performance\.now|elapsed|duration|Date\.now)[^)]*\)\.(?:toBeLess|toBeGreater)/i;

/** Tests of mocks, and tests that depend on the speed of a machine. A test that is skipped fails the test command. */
export function testProblems({ path, text }: TextFile): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const found = MOCK.exec(line) ?? TIMED.exec(line);
    return found === null ? [] : [`${path}:${index + 1}: ${found[0]}`];
  });
}
