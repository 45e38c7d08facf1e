/**
 * What a value is, as messages say it: never what it contains, so that a key or a body can be described. A value whose own code
 * throws, such as a proxy, cannot make this throw.
 *
 * @returns A short phrase, such as `undefined`, `a string`, `an Array`, `a Map` or `a promise: await it`.
 *
 * @example
 * kindOf(client.listPayoutBanks(query)); // 'a promise: await it'
 */
export function kindOf(value: unknown): string {
  try {
    if (value === null || value === undefined) return String(value);
    // Not `instanceof`: query builders are promises too, and another realm has its own classes.
    if ('then' in Object(value)) return 'a promise: await it';
    if (typeof value !== 'object') return `a ${typeof value}`;
    const name = Object.prototype.toString.call(value).slice(8, -1);
    return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`;
  } catch {
    return 'unreadable';
  }
}
