import { InvalidInputError } from '@payment-service/core';

/** By their names in the web's Encoding Standard. */
export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The marks that begin a file and prove its encoding. */
const MARKS: readonly (readonly [encoding: Encoding, mark: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

const AS_CSV = 'Ask for the statement as CSV.';
const FROM_SHEET =
  'Open it in a spreadsheet, with its ids and references as text, and save the sheet as CSV (UTF-8).';
/** How a file that is not CSV begins, what it is, and what to do. The bytes are read as latin1. */
const OTHERS: readonly (readonly [begins: string | RegExp, what: string, todo: string])[] = [
  ['PK\u0003\u0004', 'a workbook (XLSX) or another archive (ZIP)', FROM_SHEET],
  ['\u00d0\u00cf\u0011\u00e0', 'an old workbook (XLS)', FROM_SHEET],
  ['%PDF', 'a PDF', `${AS_CSV} What a PDF shows as a column may be text in any order.`],
  ['\u001f\u008b', 'compressed (gzip)', 'Unpack it first.'],
  [/^\s*(?:<!doctype html|<html|<head|<table|<body)/i, 'a web page (HTML)', FROM_SHEET],
  [/^\s*(?:OFXHEADER|(?:<\?xml[^>]*>\s*)?(?:<\?OFX[^>]*>\s*)?<OFX)/i, 'OFX', AS_CSV],
  [/^\s*(?:<\?xml[^>]*>\s*)?<(?:\w+:)?Document[\s\S]*camt\.05/i, 'CAMT (ISO 20022 XML)', AS_CSV],
  [/^\s*<\?xml/i, 'XML', AS_CSV],
  [/^\s*(?:\{1:F|:20:)/, 'MT940 (SWIFT)', AS_CSV],
  [/^ID;P[^\r\n]*\r?\n[BCEFPO];/, 'SYLK', FROM_SHEET],
  [/^\s*[[{]\s*["{[\]}]/, 'JSON', `${AS_CSV} A program can pass its rows to reconcileStatement().`],
];
const SNIFFED = 1024;

/**
 * The text of a file, piece by piece. Strict: a byte that the encoding does not have refuses the file.
 *
 * @throws {InvalidInputError} For a file that is no text; while it is read, for one that is in another encoding.
 */
export async function decoded(
  bytes: AsyncIterable<Uint8Array>,
  stated: Encoding | undefined,
): Promise<{ readonly encoding: Encoding; readonly text: AsyncIterable<string> }> {
  const pieces = bytes[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < SNIFFED) {
    const { value, done } = await pieces.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  const [marked, mark] = MARKS.find(([, bytes]) => bytes.every((byte, index) => head[index] === byte)) ?? [];
  const begin = head.subarray(mark?.length ?? 0, SNIFFED).toString('latin1');
  const [, what, todo] =
    OTHERS.find(([begins]) => (typeof begins === 'string' ? begin.startsWith(begins) : begins.test(begin))) ??
    [];
  if (what !== undefined)
    throw new InvalidInputError('statement', `The statement is ${what}, not CSV. ${todo}`);
  if (marked !== undefined && stated !== undefined && marked !== stated)
    throw new InvalidInputError(
      'encoding',
      `The statement begins with the byte order mark of ${marked}. Pass that, or no encoding.`,
    );
  const encoding = marked ?? stated ?? 'utf-8';
  return { encoding, text: textOf(prepended([head], pieces), encoding) };
}

/** Reads what was already read of an iterator, and the rest of it. */
export async function* prepended<T>(first: readonly T[], rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    yield* first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

async function* textOf(bytes: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const piece of bytes) yield decoder.decode(piece, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new InvalidInputError(
      'encoding',
      `The statement is not in ${encoding}. Pass its encoding, one of ${ENCODINGS.join(', ')}. A spreadsheet export is often windows-1252.`,
    );
  }
}
