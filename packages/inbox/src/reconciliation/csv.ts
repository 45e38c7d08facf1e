import { ConfigurationError } from '@payment-service/core';

export type Separator = ',' | ';' | '\t';

/**
 * Reads a CSV file (RFC 4180) with a header, strictly: a truncated statement, or one in another format, is refused and not
 * repaired. Every field is an unchanged string.
 *
 * @throws {ConfigurationError} Names the record, but no value.
 */
export function readCsv(text: string, separator: Separator): Readonly<Record<string, string>>[] {
  const [header = [], ...rows] = recordsIn(text.replace(/^\uFEFF/, ''), separator);
  if (new Set(header).size !== header.length || header.includes(''))
    throw refusal(1, 'two columns have the same name, or a name is missing');
  return rows.map((fields, index) => {
    if (fields.length === header.length)
      return Object.fromEntries(header.map((name, column) => [name, fields[column] ?? '']));
    throw refusal(index + 2, `it has ${fields.length} fields, and the header has ${header.length}`);
  });
}

function recordsIn(text: string, separator: Separator): string[][] {
  const field = new RegExp(`("[^"]*(?:""[^"]*)*"|[^"\\r\\n${separator}]*)(${separator}|\\r?\\n|$)`, 'y');
  const records: string[][] = [];
  let fields: string[] = [];
  for (let isOver = text === ''; !isOver; ) {
    const found = field.exec(text);
    if (found === null)
      throw refusal(records.length + 1, 'a quotation mark or a line break is misplaced or missing');
    const [, given = '', end] = found;
    fields.push(given.startsWith('"') ? given.slice(1, -1).replaceAll('""', '"') : given);
    if (end === separator) continue;
    records.push(fields);
    fields = [];
    isOver = field.lastIndex === text.length;
  }
  return records;
}

function refusal(record: number, why: string): ConfigurationError {
  const what = `Record ${record} of the statement cannot be read: ${why}. Nothing was applied.`;
  return new ConfigurationError(
    'statement',
    `${what} Export it again, as CSV with a header, and check the separator.`,
  );
}
