/** The words of the protocol that a program writes down: a type, a status, an event (protocol §2 and §3). */
const KNOWN = { type: 'COLLECTION', status: 'COMPLETED', event: 'transaction.completed' } as const;

/**
 * A name that differs from one of the protocol only in case, or by one letter, such as `Collection`: it is compared character by
 * character, so nothing would ever match it. Another service could use it, so it is not an error.
 *
 * @param call The function that was given the name.
 * @returns a warning.
 */
export function unlikelyName(call: string, kind: keyof typeof KNOWN, name: string): string | undefined {
  const known = KNOWN[kind];
  const isCase = kind !== 'event' && name !== name.toUpperCase();
  if (name === known || !(isCase || isNear(name.toUpperCase(), known.toUpperCase()))) return undefined;
  const meant = isCase ? name.toUpperCase() : known;
  return (
    `${call} names the ${kind} '${name}'. It is compared with the signed value character by character, so '${meant}' does not ` +
    `match it. Write '${meant}' if you mean that.`
  );
}

/** Equal, or one letter is missing, added or different. */
function isNear(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  return short.slice(at + (long.length === short.length ? 1 : 0)) === long.slice(at + 1);
}
