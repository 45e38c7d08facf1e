import type { TextFile } from '../repository.ts';

const SWITCHED = /\b(?:test|it|describe|bench)(?:\.\w+)*\.(?:skip|only|todo|skipIf|runIf|fails)\b/;
const SKIPPED_INSIDE = /\b(?:ctx|context|t)\.skip\(/;
// A function that records its calls is not a mock; a replaced module, clock or network is.
const MOCK =
  /\bvi\.(?:mock|doMock|useFakeTimers|setSystemTime|stubGlobal\('(?:fetch|Date|crypto)'|spyOn\((?:Date|Math|globalThis|global|performance|crypto)\b)/;
const TIMED =
  /expect\([^)]*(?:performance\.now|elapsed|duration|Date\.now)[^)]*\)\.(?:toBeLess|toBeGreater)/i;

/** Tests that can pass without proving anything: disabled, mocked, or timed. */
export function testProblems({ path, text }: TextFile): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const found = [SWITCHED, SKIPPED_INSIDE, MOCK, TIMED].map((pattern) => pattern.exec(line)?.[0]);
    return found.filter((match) => match !== undefined).map((match) => `${path}:${index + 1}: ${match}`);
  });
}
