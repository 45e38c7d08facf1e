import { readFile, writeFile } from 'node:fs/promises';
import { type Report, resultTable, type Table } from '@payment-service/durability';

const SECTION = /(<!-- figures -->\n).*(<!-- end of figures -->)/s;

/** Writes the figures of a report into a document, between its two marks. */
export async function writeDocs(
  path: string,
  report: Pick<Report, 'date' | 'environment' | 'results' | 'tables'>,
): Promise<void> {
  const document = await readFile(path, 'utf8');
  if (!SECTION.test(document)) throw new Error(`${path} has no place for figures.`);
  const { node, platform, cores } = report.environment;
  const taken = `${report.date.slice(0, 10)}, Node ${node.slice(1)}, ${platform}, ${cores} cores.`;
  const tables = [...report.tables, resultTable(report.results)].map(markdown);
  // A function, because `$` has a meaning in a replacement string.
  const section = (_: string, begin: string, end: string): string =>
    `${begin}\n${[taken, ...tables].join('\n\n')}\n\n${end}`;
  await writeFile(path, document.replace(SECTION, section));
}

function markdown({ title, head, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const ruler = head.map((name) => (name === '' ? '---' : '---:'));
  return [`### ${title}`, '', line(head), line(ruler), ...rows.map(line)].join('\n');
}
