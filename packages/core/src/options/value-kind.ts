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
  if (value === undefined || value === null || Number.isNaN(value)) return String(value);
  if (value === '') return 'an empty string';
  if (typeof value !== 'object') return `a ${typeof value}`;
  try {
    return Array.isArray(value) ? 'an array' : kindOfObject(value);
  } catch {
    return 'an object that cannot be read'; // A revoked proxy, or one that throws.
  }
}

/** No prototype chain of a program is longer; that of a proxy can be endless. */
const MAX_PROTOTYPES = 20;

function kindOfObject(value: object): string {
  let name: string | undefined;
  let owner: object | null = value;
  for (let step = 0; owner !== null && step < MAX_PROTOTYPES; step++) {
    // Not `instanceof Promise`: query builders are promises too, and another realm has its own classes.
    if (typeof dataOf(owner, 'then') === 'function') return 'a promise: await it';
    name ??= step > 0 ? globalName(dataOf(owner, 'constructor')) : undefined;
    owner = Object.getPrototypeOf(owner);
  }
  if (name === undefined || name === 'Object') return 'an object';
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`;
}

/** Of a class that every program knows. A class of the program itself may have any name, or a minified one. */
function globalName(constructor: unknown): string | undefined {
  const name = typeof constructor === 'function' ? dataOf(constructor, 'name') : undefined;
  return typeof name === 'string' && Object.hasOwn(globalThis, name) ? name : undefined;
}

function dataOf(owner: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(owner, name)?.value;
}
