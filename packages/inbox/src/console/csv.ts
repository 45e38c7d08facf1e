import { csvLine } from '@payment-service/pages';

/** A table to download (RFC 4180, UTF-8), sent while its pages are read. */
export function table(
  name: string,
  header: readonly string[],
  pages: AsyncIterator<readonly (readonly string[])[]>,
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(csvLine(header))),
    async pull(controller) {
      const { done, value } = await pages.next();
      if (done === true) return controller.close();
      controller.enqueue(encoder.encode(value.map(csvLine).join('')));
    },
    async cancel() {
      await pages.return?.();
    },
  });
  return new Response(body, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.csv"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  });
}
