/** A path, or several; or the reason why there is none. */
export type Example = string | readonly string[] | { readonly none: string };

/**
 * The paths that a test visits, each with its address, for a program whose pages are in a table.
 *
 * Lists of pages in tests once lacked pages that had been added to the program. So the examples are keyed by the addresses in the
 * table, such as `/transactions/:id`.
 *
 * @param addresses The addresses in the table.
 * @throws {Error} for an address without an example, an example without an address, and one that leads to another address.
 */
export function examplesOf(
  program: string,
  addresses: readonly string[],
  examples: Readonly<Record<string, Example>>,
): (readonly [path: string, address: string])[] {
  const problems = [
    ...addresses
      .filter((address) => !Object.hasOwn(examples, address))
      .map(
        (one) =>
          `${program} has a page at ${one} without an example here. Add '${one}' with a path, or { none: 'why' }.`,
      ),
    ...Object.keys(examples)
      .filter((address) => !addresses.includes(address))
      .map((one) => `${program} has no page at ${one}. Remove the example, or correct its address.`),
  ];
  const paths = Object.entries(examples).flatMap(([address, example]) => {
    const own = typeof example === 'object' && 'none' in example ? [] : [example].flat();
    const wrong = own.filter((path) => !leadsTo(address, path, addresses));
    problems.push(
      ...wrong.map((path) => `${path} is not a path of ${address}. Give a path of that address.`),
    );
    return own.map((path) => [path, address] as const);
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return paths;
}

/** Whether a path belongs to this address, and not to another one without a parameter. */
function leadsTo(address: string, path: string, addresses: readonly string[]): boolean {
  const [bare = ''] = path.split(/[?#]/);
  if (addresses.includes(bare)) return bare === address;
  const [parts, given] = [address.split('/'), bare.split('/')];
  return (
    parts.length === given.length && parts.every((part, at) => part.startsWith(':') || part === given[at])
  );
}
