import { ConfigurationError } from '@payment-service/core';

/** In the names of the web's Encoding Standard. */
export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** What begins a file, and proves its encoding. */
const MARKS: readonly (readonly [encoding: Encoding, mark: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/**
 * The text of a file, piece by piece. Strict: a byte that the encoding does not have refuses the file.
 *
 * @throws {ConfigurationError} While it is read.
 */
export async function decoded(
  bytes: AsyncIterable<Uint8Array>,
  stated: Encoding | undefined,
): Promise<{ readonly encoding: Encoding; readonly text: AsyncIterable<string> }> {
  const pieces = bytes[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < 4) {
    const { value, done } = await pieces.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  const [marked] = MARKS.find(([, mark]) => mark.every((byte, index) => head[index] === byte)) ?? [];
  if (marked !== undefined && stated !== undefined && marked !== stated)
    throw new ConfigurationError(
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
    throw new ConfigurationError(
      'encoding',
      `The statement is not in ${encoding}. Pass its encoding, one of ${ENCODINGS.join(', ')}. An export of a spreadsheet is often windows-1252.`,
    );
  }
}
