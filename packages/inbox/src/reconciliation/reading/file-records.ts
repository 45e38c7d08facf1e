import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InvalidInputError } from '@payment-service/core';
import { parse } from 'csv-parse';

export const SEPARATORS = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;
export type Separator = keyof typeof SEPARATORS;
export const SEPARATOR_NAMES = Object.keys(SEPARATORS) as readonly Separator[];

/** How the records of a file are written. */
export interface RecordFormat {
  readonly separator: Separator;
  /** With `'text'`, a quotation mark is a character like any other. */
  readonly quotes?: 'text' | undefined;
}

/** A record of the file. */
export interface FileRecord {
  /** Without white space and Ctrl-Z at their ends. */
  readonly cells: readonly string[];
  /** The number of its first line, from 1. */
  readonly line: number;
  /** How many lines it takes. */
  readonly lines: number;
}

export const MAX_RECORD = 65_536;

/** The records of a file, whatever ends its lines. */
export async function* recordsIn(
  text: AsyncIterable<string>,
  { separator, quotes }: RecordFormat,
): AsyncGenerator<FileRecord> {
  const parser = parse({
    delimiter: SEPARATORS[separator],
    record_delimiter: ['\r\n', '\n', '\r'],
    quote: quotes === 'text' ? null : '"',
    relax_column_count: true,
    max_record_size: MAX_RECORD,
  });
  // Its error is that of the parser, which the loop throws.
  pipeline(Readable.from(text), parser).catch(() => undefined);
  let line = 1;
  try {
    for await (const fields of parser) {
      const lines = 1 + breaksIn(fields);
      yield { cells: fields.map((cell: string) => cell.replaceAll('\u001a', '').trim()), line, lines };
      line += lines;
    }
  } catch (error) {
    const { code, lines, message } = Object(error);
    if (!/^CSV_|QUOTE/.test(String(code))) throw error;
    // The parser's message also quotes what it has read, which may be a phone number.
    const [, at = String(lines)] = /at line (\d+)/.exec(String(message)) ?? [];
    throw new InvalidInputError('statement', `${whyOf(String(code), at)} Nothing was applied.`);
  }
}

function whyOf(code: string, line: string): string {
  if (code === 'CSV_MAX_RECORD_SIZE')
    return `The statement cannot be read at line ${line}: a line is longer than ${MAX_RECORD} characters.`;
  return (
    `The statement cannot be read at line ${line}: a quotation mark is inside a cell, or is not closed. ` +
    "If quotation marks are ordinary characters in this file, pass quotes as 'text'."
  );
}

function breaksIn(fields: readonly string[]): number {
  let breaks = 0;
  for (const field of fields) if (/[\r\n]/.test(field)) breaks += field.match(/\r\n|\r|\n/g)?.length ?? 0;
  return breaks;
}
