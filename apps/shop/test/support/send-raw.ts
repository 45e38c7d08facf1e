import { type IncomingHttpHeaders, request } from 'node:http';

export interface RawRequest {
  readonly method?: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
}

export interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Not fetch(): it sets the header `host` itself, and normalises the target and the headers. */
export function sendRaw(
  origin: string,
  { method = 'GET', target, headers, body }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  const length = method === 'POST' ? { 'content-length': String(Buffer.byteLength(body ?? '')) } : {};
  const options = { hostname, port, method, path: target, headers: { ...headers, ...length } };
  return new Promise((resolve, reject) => {
    const sent = request(options, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const { statusCode: status, headers: received } = response;
      resolve({ status, headers: received, body: Buffer.concat(chunks).toString() });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
