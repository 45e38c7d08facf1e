import { csvLine } from '@payment-service/pages';

type Page = readonly (readonly string[])[];

/** A table to download (RFC 4180, UTF-8), sent while its pages are read. */
export function table(
  name: string,
  header: readonly string[],
  pages: AsyncIterable<Page> | Iterable<Page>,
): Response {
  async function* lines(): AsyncGenerator<string> {
    yield csvLine(header);
    for await (const page of pages) yield page.map(csvLine).join('');
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
