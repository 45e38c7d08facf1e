import { expect, onTestFinished, test, vi } from 'vitest';

/**
 * Mistakes of a merchant's first week, by what they wrote. `make` makes the mistake and returns what the person then sees, unless
 * that is thrown or printed. It must contain the cause and the fix.
 */
export type Mistakes = Readonly<
  Record<string, readonly [make: () => unknown, cause: RegExp | string, fix: RegExp | string]>
>;

/**
 * Runs one test for each mistake.
 *
 * @example
 * testMistakes('core', { 'a key that is not set': [() => createVerifier({ signingKey: undefined }), /is missing/, /variable/] });
 */
export function testMistakes(title: string, mistakes: Mistakes): void {
  test.each(Object.entries(mistakes))(
    `${title}: %s is named, with its fix`,
    async (_, [make, ...expected]) => {
      const seen = await seenBy(make);
      for (const words of expected) expect(seen).toMatch(words);
    },
  );
}

/** Everything that reaches the person: what is printed, thrown and returned. */
async function seenBy(make: () => unknown): Promise<string> {
  const seen: unknown[] = [];
  for (const name of ['warn', 'error'] as const) {
    const printed = vi.spyOn(console, name).mockImplementation((...words) => void seen.push(...words));
    onTestFinished(() => printed.mockRestore());
  }
  try {
    seen.push(await make());
  } catch (error) {
    seen.push(error);
  }
  return seen.map((one) => (one instanceof Error ? one.message : one)).join('\n');
}
