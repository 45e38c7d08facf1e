import type { TextFile } from '../repository.ts';

const SWITCHED = /\b(?:test|it|describe|bench)(?:\.\w+)*\.(?:skip|only|todo|skipIf|runIf|fails)\b/;
const SKIPPED_INSIDE = /\b(?:ctx|context|t)\.skip\(/;
// A function that records its calls is no mock; a module, a clock or a network that is put in the place of another is.
const MOCK =
  /\bvi\.(?:mock|doMock|useFakeTimers|setSystemTime|stubGlobal\('(?:fetch|Date|crypto)'|spyOn\((?:Date|Math|globalThis|global|performance|crypto)\b)/;
const TIMED =
  /expect\([^)]*(?:performance\.now|elapsed|duration|Date\.now)[^)]*\)\.(?:toBeLess|toBeGreater)/i;

/** Tests that can pass without having proved anything: switched off, mocked, or measured with a clock. */
export function testProblems({ path, text }: TextFile): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const found = [SWITCHED, SKIPPED_INSIDE, MOCK, TIMED].map((pattern) => pattern.exec(line)?.[0]);
    return found.filter((match) => match !== undefined).map((match) => `${path}:${index + 1}: ${match}`);
  });
}
