import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import { setTimeout as wait } from 'node:timers/promises';
import { Connection, methodOf, type Parts } from '../connection.ts';
import { hangGuard } from '../hang-guard.ts';
import { bytesOf, type Message, REDIRECT_PATH } from '../http-request.ts';
import { contents } from './contents.ts';
import { framing } from './framing.ts';
import { headerRows } from './headers.ts';
import { hosted } from './hostile-host.ts';
import type { Sent, Verdict } from './hostile-request.ts';
import { openHttp2 } from './resist.ts';
import { vectors } from './vectors.ts';

export const HOSTILE_REQUESTS: readonly (readonly [name: string, verdict: Verdict, sent: Sent])[] = [
  ...[headerRows, contents, framing].flatMap((verdicts) =>
    Object.entries(verdicts).flatMap(([verdict, named]) =>
      Object.entries(named).map(([name, sent]) => [name, verdict, sent] as const),
    ),
  ),
  ...vectors,
];

/** The stream is still open after a second. */
const NO_ANSWER = 'no answer';
const KOA_2 = 'Koa 2 never answers HEAD over HTTP/2, without the adapter either.';
const TRACE = 'The Request of the platform refuses TRACE, so that the server of the test answers 500.';
const HONO = '@hono/node-server refuses a request without a host.';

/**
 * Requests that a framework or a bridge decides before the adapter: the verdict and the reason, by protocol, server and
 * request. An unlisted difference fails.
 */
export const DIFFERENCES: Readonly<Record<string, readonly [verdict: Verdict, reason: string]>> = {
  'HTTP/2, koa 2, a method: HEAD': [NO_ANSWER, KOA_2],
  'HTTP/2, koa 2, a redirect: HEAD': [NO_ANSWER, KOA_2],
  'HTTP/1.1, fetch, a method: TRACE': ['500', TRACE],
  'HTTP/1.1, hono, header lines: an empty host': ['400', HONO],
};

/** What one server did with one request. */
export interface Judged {
  readonly request: string;
  readonly verdict: Verdict;
  readonly expected: Verdict;
}

/**
 * Sends every small request, or some, to one server, in each version of HTTP that it serves.
 *
 * @param name The adapter; `fetch: name` of one whose server makes a Request of the platform, as that of fetch does.
 */
export function judge(
  name: string,
  program: URL,
  requests: typeof HOSTILE_REQUESTS = HOSTILE_REQUESTS,
): Promise<readonly Judged[]> {
  const [server] = name.split(':');
  return hosted(name, program, async (host) => {
    const judged: Judged[] = [];
    let { handled, ports } = await host.report();
    const { http1, http2 } = ports;
    const sessions = http2 && {
      callbacks: openHttp2(http2.callbacks),
      redirects: openHttp2(http2.redirects),
    };
    for (const [request, verdict, sent] of requests) {
      const to = Buffer.from(partsOf(sent)[0] ?? '').includes(REDIRECT_PATH) ? 'redirects' : 'callbacks';
      for (const protocol of ['HTTP/1.1', 'HTTP/2']) {
        const [expected] = DIFFERENCES[`${protocol}, ${server}, ${request}`] ?? [verdict];
        const statuses =
          protocol === 'HTTP/1.1'
            ? await sendHttp1(http1[to], sent, expected.match(/\d{3}/g)?.length)
            : sessions && 'method' in sent && (await sendHttp2(sessions[to], sent, expected === NO_ANSWER));
        if (!statuses) continue;
        const report = await host.report();
        const times = report.handled - handled;
        const ran = ['', ' handled', ' handled twice'][times] ?? ` handled ${times} times`;
        judged.push({ request: `${protocol}, ${request}`, verdict: statuses + ran, expected });
        handled = report.handled;
      }
    }
    for (const session of Object.values(sessions ?? {})) session.destroy();
    const { sockets, streams } = await host.until((report) => report.sockets + report.streams === 0, 30);
    const left = `${sockets} sockets and ${streams} streams`;
    return [...judged, { request: 'left by all', verdict: left, expected: '0 sockets and 0 streams' }];
  });
}

function partsOf(sent: Sent): Parts {
  if ('method' in sent) return [bytesOf(sent)];
  return 'finished' in sent ? sent.finished : sent;
}

/** The statuses of the responses. */
async function sendHttp1(port: number, sent: Sent, answers = 1): Promise<string> {
  const client = await Connection.open(port);
  const parts = partsOf(sent);
  const statuses: (number | string)[] = [];
  try {
    await client.write(...parts);
    if ('finished' in sent) client.finish();
    while (statuses.length < answers) {
      const { status, headers } = await client.answer(methodOf(parts));
      statuses.push(status);
      if (headers.get('connection')?.toLowerCase() !== 'close') continue;
      await client.closedByServer();
      break;
    }
  } catch (error) {
    if (String(error).includes('Hangs')) throw error;
    statuses.push('closed');
  } finally {
    client.hangUp();
  }
  return statuses.join(' ');
}

/** The status of the response, or undefined if Node's client cannot write the request. */
async function sendHttp2(
  session: ClientHttp2Session,
  { method, target, headers, body }: Message,
  isUnanswered: boolean,
): Promise<string | undefined> {
  // HTTP/2 does not have these.
  const { host: _, connection: _2, 'transfer-encoding': _3, upgrade: _4, ...rest } = headers;
  const fields = { ':method': method, ':path': target, ...rest } as OutgoingHttpHeaders;
  let stream: ReturnType<ClientHttp2Session['request']>;
  try {
    stream = session.request(fields, { endStream: body.length === 0 });
  } catch {
    return undefined;
  }
  stream.on('error', () => undefined).resume();
  const closed = new Promise<string>((resolve) => stream.once('close', () => resolve('closed')));
  const answered = new Promise<string>((resolve) => {
    stream.once('response', (answer) => resolve(String(answer[':status'])));
  });
  if (body.length > 0) stream.end(body);
  const late = isUnanswered ? wait(1000, NO_ANSWER) : answered;
  const status = await hangGuard('an answer', Promise.race([answered, closed, late]));
  if (status === NO_ANSWER) stream.close();
  await hangGuard('the stream to close', closed);
  return status;
}
