import { readFile, writeFile } from 'node:fs/promises';
import { type Report, type Result, range, resultTable, type Table } from '@payment-service/durability';

/**
 * Writes the figures of a report into a document, between the two marks of its section. Of the targets it lists those that are
 * missed, and those with a spread that are within a fifth of their limit: the tables have the others.
 */
export async function writeDocs(
  path: string,
  section: string,
  report: Pick<Report, 'date' | 'environment' | 'results' | 'tables'>,
): Promise<void> {
  const document = await readFile(path, 'utf8');
  const marks = new RegExp(`(<!-- ${section} -->\\n).*(<!-- end of ${section} -->)`, 's');
  if (!marks.test(document)) throw new Error(`${path} has no place for figures of ${section}.`);
  const { date, environment, results, tables } = report;
  const { node, platform, cores } = environment;
  const listed = results.filter((result) => !result.met || (hasSpread(result) && isClose(result)));
  const met = results.filter((result) => result.met).length;
  const figures = [
    `${date.slice(0, 10)}, Node ${node.slice(1)}, ${platform}, ${cores} cores.`,
    ...tables.map((table) => `### ${table.title}\n\n${markdown(table)}`),
    `### Targets of ${section}\n\n${met} of ${results.length} targets are met.`,
    ...(listed.length === 0 ? [] : [markdown(resultTable(listed))]),
  ];
  // A function, because `$` has a meaning in a replacement string.
  const written = document.replace(
    marks,
    (_, begin: string, end: string) => `${begin}\n${figures.join('\n\n')}\n\n${end}`,
  );
  await writeFile(path, written);
}

/** A spread that its figures show. */
function hasSpread(result: Result): boolean {
  const [from, to = from] = range(result).split(' to ');
  return from !== to;
}

function isClose({ value, target, bound }: Result): boolean {
  if (target === null) return false;
  return (bound === 'at most' ? value / target : target / value) > 0.8;
}

function markdown({ head, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const ruler = head.map((name) => (name === '' ? '---' : '---:'));
  return [line(head), line(ruler), ...rows.map(line)].join('\n');
}
