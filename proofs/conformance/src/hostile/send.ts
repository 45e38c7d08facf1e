import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import { Connection } from '../connection.ts';
import { hangGuard } from '../hang-guard.ts';
import type { Message } from '../http-request.ts';
import type { Wire } from './hostile-request.ts';

/** Sends a request over HTTP/1.1, and returns the statuses of its responses. */
export async function sendHttp1(
  port: number,
  { bytes, answers = 1, isFinished = false }: Wire,
): Promise<string> {
  const client = await Connection.open(port);
  const to = /^\w*/.exec(Buffer.from(bytes[0] ?? '').toString('latin1'))?.[0] ?? '';
  try {
    await client.write(...bytes);
    if (isFinished) client.finish();
    const statuses: string[] = [];
    for (let count = 0; count < answers; count++) {
      const { status, isLast } = await nextAnswer(client, to);
      statuses.push(status);
      if (isLast) {
        await client.closedByServer();
        break;
      }
    }
    return statuses.join(' ');
  } finally {
    client.hangUp();
  }
}

async function nextAnswer(client: Connection, to: string): Promise<{ status: string; isLast: boolean }> {
  try {
    const { status, headers } = await client.answer({ to });
    return { status: String(status), isLast: headers.get('connection')?.toLowerCase() === 'close' };
  } catch (error) {
    // Node's parser responds without a length, and closes the connection.
    const [, status] = /^HTTP\/1\.1 (\d{3}) [\s\S]*connection: close/i.exec(client.unread) ?? [];
    if (status !== undefined) return { status, isLast: true };
    if (String(error).includes('Hangs')) throw error;
    return { status: 'closed', isLast: true };
  }
}

export function openHttp2(port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => undefined);
  return session;
}

/** Headers that HTTP/2 does not have. */
const OF_HTTP1 = ['host', 'connection', 'transfer-encoding', 'upgrade'];

/** The stream is still open after the response to a later request. */
export const NO_ANSWER = 'no answer';

/**
 * Sends a request over HTTP/2. Returns undefined if Node's client cannot write it.
 *
 * @param later for a server that is known not to respond to the request.
 */
export async function sendHttp2(
  session: ClientHttp2Session,
  { method, target, headers, body }: Message,
  later?: Message,
): Promise<string | undefined> {
  const fields: OutgoingHttpHeaders = { ':method': method, ':path': target };
  for (const [name, value] of Object.entries(headers)) {
    if (OF_HTTP1.includes(name) || value === undefined) continue;
    fields[name] = typeof value === 'string' ? value : value.length === 1 ? value[0] : [...value];
  }
  const stream = requestOf(session, fields, body.length === 0);
  if (stream === undefined) return undefined;
  stream.on('error', () => undefined);
  const answered = new Promise<string>((resolve) => {
    stream.once('response', (answer) => resolve(String(answer[':status'])));
    stream.once('close', () => resolve('closed'));
  });
  if (body.length > 0) stream.end(body);
  const closed = new Promise((resolve) => stream.once('close', resolve));
  stream.resume();
  const patience = later && sendHttp2(session, later).then(() => NO_ANSWER);
  const status = await hangGuard('an answer', Promise.race([answered, patience ?? answered]));
  if (status === NO_ANSWER) stream.close();
  await hangGuard('the stream to close', closed);
  return status;
}

function requestOf(
  session: ClientHttp2Session,
  fields: OutgoingHttpHeaders,
  endStream: boolean,
): ReturnType<ClientHttp2Session['request']> | undefined {
  try {
    return session.request(fields, { endStream });
  } catch {
    return undefined;
  }
}
