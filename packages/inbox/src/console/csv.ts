import { csvLine } from '@payment-service/pages';

/** A table to download (RFC 4180, UTF-8), sent while its rows are read. */
export function table<T>(
  name: string,
  header: readonly string[],
  rows: AsyncIterable<T>,
  cells: (row: T) => readonly string[],
): Response {
  async function* lines(): AsyncGenerator<string> {
    yield csvLine(header);
    for await (const row of rows) yield csvLine(cells(row));
  }
  return new Response(ReadableStream.from(lines()).pipeThrough(new TextEncoderStream()), {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.csv"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  });
}
