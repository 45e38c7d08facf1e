/** One response, unchanged from the wire. */
export interface HttpAnswer {
  readonly status: number;
  /** By lower-case name; a repeated name is joined with ' | ', which no single value here contains. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

interface Taken {
  readonly body: string;
  readonly rest: string;
}

/**
 * Removes the first complete response from what was received (latin1), or returns undefined while it is incomplete. Written here
 * because fetch and node:http hide what this suite checks: repeated headers, pipelined responses, a body after HEAD.
 */
export function takeHttpAnswer(
  received: string,
  { isHead = false, isClosed = false }: { readonly isHead?: boolean; readonly isClosed?: boolean },
): { answer: HttpAnswer; rest: string } | undefined {
  const head = /^HTTP\/1\.1 (\d{3}).*\r\n((?:.+\r\n)*)\r\n/.exec(received);
  if (head === null) {
    if (!received.includes('\r\n\r\n')) return undefined;
    throw new Error('The bytes received are not an HTTP/1.1 answer.');
  }
  const [whole, status, lines = ''] = head;
  const headers = new Map<string, string>();
  for (const [, name = '', value = ''] of lines.matchAll(/([^:\r\n]+):(.*)/g)) {
    const earlier = headers.get(name.toLowerCase());
    headers.set(name.toLowerCase(), [...(earlier === undefined ? [] : [earlier]), value.trim()].join(' | '));
  }
  const after = received.slice(whole.length);
  const hasNoBody = isHead || /^(1..|204|304)$/.test(status ?? '');
  const taken = hasNoBody ? { body: '', rest: after } : takeBody(after, headers, isClosed);
  const body = Buffer.from(taken?.body ?? '', 'latin1').toString();
  return taken && { answer: { status: Number(status), headers, body }, rest: taken.rest };
}

/** Without a length, a body ends with its connection. */
function takeBody(text: string, headers: ReadonlyMap<string, string>, isClosed: boolean): Taken | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return takeChunks(text);
  const length = headers.get('content-length') ?? (isClosed ? text.length : Number.POSITIVE_INFINITY);
  if (text.length < Number(length)) return undefined;
  return { body: text.slice(0, Number(length)), rest: text.slice(Number(length)) };
}

function takeChunks(text: string): Taken | undefined {
  const [line, hex = ''] = /^([\da-f]+)\r\n/i.exec(text) ?? [];
  if (line === undefined) return undefined;
  const end = line.length + Number.parseInt(hex, 16);
  if (text.length < end + 2) return undefined;
  const rest = text.slice(end + 2);
  if (end === line.length) return { body: '', rest };
  const others = takeChunks(rest);
  return others && { body: text.slice(line.length, end) + others.body, rest: others.rest };
}
