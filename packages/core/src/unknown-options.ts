import { ConfigurationError } from './errors.ts';

/**
 * Refuses an option that does not exist: a misspelled `onCallback` would otherwise turn a handler off in silence.
 *
 * @param call The function, for the message.
 * @throws {ConfigurationError} Names the unknown option, and the known one that is spelled most alike.
 */
export function refuseUnknownOptions(call: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const meant = known.find((one) => isAlike(one.toLowerCase(), name.toLowerCase()));
    const advice = meant === undefined ? `Known options: ${known.join(', ')}.` : `Did you mean "${meant}"?`;
    throw new ConfigurationError(name, `${call} does not know the option "${name}". ${advice}`);
  }
}

/** Equal but for one character, or for the order of two neighbours. */
function isAlike(known: string, given: string): boolean {
  if (known === given) return true;
  let start = 0;
  while (start < known.length && known[start] === given[start]) start++;
  const rest = known.slice(start);
  const givenRest = given.slice(start);
  return (
    rest.slice(1) === givenRest.slice(1) ||
    rest.slice(1) === givenRest ||
    rest === givenRest.slice(1) ||
    (rest[0] === givenRest[1] && rest[1] === givenRest[0] && rest.slice(2) === givenRest.slice(2))
  );
}
