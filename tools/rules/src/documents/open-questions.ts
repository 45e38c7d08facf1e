import { fencedBlocks, prose, tableRows } from '../markdown.ts';

const CLAUSE = /^#{2,4} (\d+(?:\.\d+)?)\.? .*$/gm;
const NOT_SHOWN = /\*\*Not shown:\*\*\s+(.*?)\.(?:\s|$)/gs;

/** Every item that a clause of the protocol lists as not shown, in the form `protocol §6: other values of …`. */
export function openItems(protocol: string): readonly string[] {
  const clauses = protocol.split(CLAUSE);
  return clauses.flatMap((text, index) => {
    if (index % 2 === 0) return [];
    const [body = ''] = (clauses[index + 1] ?? '').split(/^#/m);
    return [...body.matchAll(NOT_SHOWN)].flatMap(([, items = '']) =>
      items.split(';').map((item) => `protocol §${text}: ${item.replace(/\s+/g, ' ').trim()}`),
    );
  });
}

/**
 * Differences between the page of questions and the protocol, and options in the last column that the page's block does not
 * use. The block is compiled with all others, so an option in it exists in a type.
 */
export function questionProblems(page: string, protocol: string): readonly string[] {
  const rows = tableRows(prose(page));
  const listed = rows.flatMap(([, items = '']) =>
    items.startsWith('protocol §') ? items.split(/; (?=protocol)/) : [],
  );
  const open = openItems(protocol);
  const options = rows.flatMap((row) =>
    [...(row.at(-1) ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );
  const code = fencedBlocks(page)
    .filter(({ info }) => info === 'ts')
    .map((block) => block.code)
    .join('\n');
  return [
    ...open.filter((item) => !listed.includes(item)).map((item) => `is not asked: ${item}`),
    ...listed.filter((item) => !open.includes(item)).map((item) => `is not open: ${item}`),
    ...[...new Set(options)]
      .filter((name) => !new RegExp(`\\b${name}[:,]`).test(code))
      .map((name) => `is not in the block: ${name}`),
    ...rows.filter((row) => row.at(-2) === '').map(([question]) => `says nothing until then: ${question}`),
  ];
}
