/** One response, unchanged from the wire. */
export interface HttpAnswer {
  readonly status: number;
  /** By lower-case name; a repeated name is joined with ' | ', which no single value here contains. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/**
 * Removes the first complete response from the bytes, or returns undefined while it is incomplete. Written here because fetch
 * and node:http hide what this suite checks: repeated headers, pipelined responses, a body after HEAD.
 */
export function takeHttpAnswer(
  bytes: Buffer,
  isHead: boolean,
): { answer: HttpAnswer; rest: Buffer } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error('The bytes received are not an HTTP/1.1 answer.');
  const headers = readHeaders(lines);
  const rest = bytes.subarray(headEnd + 4);
  if (isHead || status < 200 || status === 204 || status === 304) {
    return { answer: { status, headers, body: '' }, rest };
  }
  const body = headers.get('transfer-encoding') === 'chunked' ? takeChunks(rest) : takeLength(rest, headers);
  return body && { answer: { status, headers, body: body.text }, rest: body.rest };
}

function readHeaders(lines: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier} | ${value}`);
  }
  return headers;
}

interface Taken {
  readonly text: string;
  readonly rest: Buffer;
}

function takeLength(bytes: Buffer, headers: ReadonlyMap<string, string>): Taken | undefined {
  const length = Number(headers.get('content-length'));
  if (Number.isNaN(length)) throw new Error('The answer has neither a length nor chunked encoding.');
  if (bytes.length < length) return undefined;
  return { text: bytes.toString('utf8', 0, length), rest: bytes.subarray(length) };
}

function takeChunks(bytes: Buffer): Taken | undefined {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const start = lineEnd + 2;
    if (bytes.length < start + size + 2) return undefined;
    if (size === 0) return { text: Buffer.concat(chunks).toString('utf8'), rest: bytes.subarray(start + 2) };
    chunks.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}
