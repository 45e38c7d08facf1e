import { ConfigurationError } from './errors.ts';

/** Anything else could be a value that slipped into the place of a name. */
const PLAIN_NAME = /^[A-Za-z_$][\w$.-]{0,39}$/;

/**
 * Refuses an option that does not exist. A typo such as `timeoutMS` would otherwise leave the default in force without
 * a word.
 *
 * @param call the function that takes the options, as the message names it: `createClient()`.
 * @throws {ConfigurationError} naming the first unknown option and the known one that is closest to it.
 *
 * @example
 * refuseUnknownOptions('createClient()', { timeoutMS: 5000 }, ['timeoutMs']);
 */
export function refuseUnknownOptions(call: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    if (!PLAIN_NAME.test(name)) {
      const message = `${call} got an option whose name is not an identifier. Known options: ${known.join(', ')}.`;
      throw new ConfigurationError('options', message);
    }
    const closest = closestName(name, known);
    const hint = closest === undefined ? `Known options: ${known.join(', ')}.` : `Did you mean "${closest}"?`;
    throw new ConfigurationError(name, `${call} does not know the option "${name}". ${hint}`);
  }
}

function closestName(name: string, known: readonly string[]): string | undefined {
  let closest: string | undefined;
  // Farther than this, two names have nothing to do with each other.
  let fewest = Math.max(2, Math.floor(name.length / 2)) + 1;
  for (const candidate of known) {
    const count = edits(name.toLowerCase(), candidate.toLowerCase());
    if (count < fewest) [closest, fewest] = [candidate, count];
  }
  return closest;
}

/** The Levenshtein distance: how many characters to insert, remove or replace. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, character] of [...from].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...to].entries()) {
      const [above = 0, left = 0, diagonal = 0] = [row[column + 1], next[column], row[column]];
      next.push(Math.min(above + 1, left + 1, diagonal + (character === other ? 0 : 1)));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
