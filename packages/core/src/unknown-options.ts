import { ConfigurationError } from './errors.ts';

/**
 * Refuses an option that does not exist: a misspelled `onCallback` would otherwise turn a handler off in silence.
 *
 * @param call The function, as the message names it.
 * @throws {ConfigurationError} Names the unknown option, and the known one that begins like it.
 *
 * @example
 * refuseUnknownOptions('createClient()', { timeoutMS: 5000 }, ['timeoutMs']); // … Did you mean "timeoutMs"?
 */
export function refuseUnknownOptions(call: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const lower = name.toLowerCase();
    const alike =
      known.find((one) => one.toLowerCase() === lower) ??
      known.find((one) => one.toLowerCase().startsWith(lower.slice(0, 4)));
    const advice = alike === undefined ? `Known options: ${known.join(', ')}.` : `Did you mean "${alike}"?`;
    throw new ConfigurationError(name, `${call} does not know the option "${name}". ${advice}`);
  }
}
