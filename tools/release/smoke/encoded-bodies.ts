import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { paymentCallbacks } from '@payment-service/fetch';

const signingKey = 'SMOKE-SIGNING-KEY';
type Encoding = 'gzip' | 'deflate';

/** The expected responses on every runtime. What a bridge has decompressed verifies. */
export const EXPECTED_STATUSES: Readonly<Record<string, number>> = {
  gzip: 200,
  deflate: 200,
  'two members': 401,
  'a trailing byte': 401,
  'trailing text': 401,
  truncated: 401,
  'not compressed': 200,
  empty: 401,
  'over 64 KiB': 413,
};

/** Compressed callbacks, sent to the fetch adapter. Uses only the web's globals. */
export async function encodedStatuses(): Promise<Readonly<Record<string, number>>> {
  const data = sampleCallback();
  const text = JSON.stringify(data);
  const receive = paymentCallbacks({ signingKey, onCallback: () => undefined });
  const status = async (body: Blob, encoding: Encoding = 'gzip'): Promise<number> => {
    const headers = { 'content-encoding': encoding, 'hmac-signature': signCallback({ signingKey, data }) };
    const request = new Request('https://shop.example/callbacks', { method: 'POST', headers, body });
    return (await receive(request)).status;
  };
  const zipped = await compressed(text, 'gzip');
  const halves = [await compressed(text.slice(0, 40), 'gzip'), await compressed(text.slice(40), 'gzip')];
  return {
    gzip: await status(zipped),
    deflate: await status(await compressed(text, 'deflate'), 'deflate'),
    'two members': await status(new Blob(halves)),
    'a trailing byte': await status(new Blob([zipped, '\0'])),
    'trailing text': await status(new Blob([zipped, 'trailing text'])),
    truncated: await status(zipped.slice(0, -12)),
    'not compressed': await status(new Blob([text])),
    empty: await status(new Blob([])),
    'over 64 KiB': await status(
      await compressed(JSON.stringify({ ...data, filler: 'x'.repeat(100_000) }), 'gzip'),
    ),
  };
}

function compressed(text: string, encoding: Encoding): Promise<Blob> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream(encoding));
  return new Response(stream).blob();
}
