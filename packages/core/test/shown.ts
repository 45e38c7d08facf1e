import { inspect } from 'node:util';

/** Everything that a logger could extract from a value, including its hidden properties and chain of causes. */
export function shown(value: unknown): string {
  const chain: unknown[] = [];
  for (let link = value; link instanceof Error && chain.length < 30; link = link.cause) {
    chain.push(String(link), link.stack, { ...link });
    if (link instanceof AggregateError) chain.push(...link.errors.map(shown));
  }
  const own = Object(value) === value ? { ...(value as object) } : value;
  return [
    inspect(value, { depth: 20, showHidden: true, getters: true }),
    // console.dir() shows objects with customInspect: false.
    ...[{}, { showHidden: true, showProxy: true }, { getters: true }].map((options) =>
      inspect(value, { depth: 20, customInspect: false, ...options }),
    ),
    inspect([{ value }]),
    inspect(new Map([[value, value]])),
    inspect(own, { depth: 20, showHidden: true }),
    JSON.stringify({ value, chain }),
  ].join('\n');
}
