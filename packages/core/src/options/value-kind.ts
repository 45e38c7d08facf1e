/**
 * What a value is, as messages say it: never what it contains, so that a key or a body can be described. Runs no code of the
 * value: no getter, no method, no `toString`. Only a proxy learns that something looked at it.
 *
 * @returns A short phrase, such as `undefined`, `a string`, `an array`, `a Map` or `a promise: await it`.
 *
 * @example
 * kindOf(client.listPayoutBanks(query)); // 'a promise: await it'
 */
export function kindOf(value: unknown): string {
  const kind = plainKindOf(value);
  if (kind !== 'an object') return kind;
  try {
    const name = ownValue(ownValue(Object.getPrototypeOf(value), 'constructor'), 'name');
    // A class of the program itself may have any name, or a minified one.
    if (typeof name !== 'string' || name === 'Object' || !Object.hasOwn(globalThis, name)) return kind;
    return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`;
  } catch {
    return kind; // A proxy.
  }
}

function ownValue(owner: unknown, name: string): unknown {
  return Object.getOwnPropertyDescriptor(Object(owner), name)?.value;
}

/** The same without classes, for what adapters load, where the size counts: a `Map` is an object. */
export function plainKindOf(value: unknown): string {
  if (value === null || value === undefined || Number.isNaN(value)) return String(value);
  try {
    // Not `instanceof Promise`: query builders are promises too, and another realm has its own classes.
    if ('then' in Object(value)) return 'a promise: await it';
    if (Array.isArray(value)) return 'an array';
  } catch {
    return 'an unreadable object'; // A revoked proxy, or one that throws.
  }
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
