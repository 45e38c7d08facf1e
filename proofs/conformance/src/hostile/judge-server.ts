import type { ClientHttp2Session } from 'node:http2';
import { contents } from './contents.ts';
import { DIFFERENCES } from './differences.ts';
import { framing } from './framing.ts';
import { headers } from './headers.ts';
import { HostileHost, type HostileServer } from './hostile-host.ts';
import { callback, type HostileRequest, type Verdict } from './hostile-request.ts';
import { NO_ANSWER, openHttp2, sendHttp1, sendHttp2 } from './send.ts';
import { vectors } from './vectors.ts';

export const HOSTILE_REQUESTS: readonly HostileRequest[] = [...headers, ...contents, ...framing, ...vectors];

/** What one server did with one request. */
export interface Judged {
  readonly request: string;
  readonly protocol: 'HTTP/1.1' | 'HTTP/2';
  readonly verdict: Verdict;
  readonly expected: Verdict;
  /** Why this server differs from all others, if known. */
  readonly reason: string | undefined;
}

export interface JudgedServer {
  readonly judged: readonly Judged[];
  /** After the last client has hung up. */
  readonly sockets: number;
  readonly streams: number;
}

/** Sends every small request to one server, in each version of HTTP that it serves. */
export async function judgeServer(server: HostileServer): Promise<JudgedServer> {
  const host = HostileHost.start(server);
  let session: ClientHttp2Session | undefined;
  try {
    const judged: Judged[] = [];
    let { handled, ports } = await host.report();
    session = ports.http2 === undefined ? undefined : openHttp2(ports.http2);
    const judge = async (request: HostileRequest, protocol: Judged['protocol']): Promise<void> => {
      const name = `${request.kind}: ${request.name}`;
      const difference = DIFFERENCES[`${protocol}, ${server.name}, ${name}`];
      const [expected, reason] = difference ?? [request.verdict, undefined];
      const later = expected === NO_ANSWER ? UNSIGNED.message : undefined;
      const statuses =
        protocol === 'HTTP/1.1'
          ? request.wire && (await sendHttp1(ports.http1, request.wire))
          : request.message && session && (await sendHttp2(session, request.message, later));
      if (statuses === undefined) return;
      const report = await host.report();
      const verdict = verdictOf(statuses, report.handled - handled);
      handled = report.handled;
      judged.push({ request: name, protocol, verdict, expected, reason });
    };
    for (const request of HOSTILE_REQUESTS) {
      await judge(request, 'HTTP/1.1');
      await judge(request, 'HTTP/2');
    }
    session?.destroy();
    const { sockets, streams } = await host.until((report) => report.sockets + report.streams === 0, 30);
    return { judged, sockets, streams };
  } finally {
    session?.destroy();
    await host.end();
  }
}

const UNSIGNED = callback({ headers: { 'hmac-signature': undefined } });
const TIMES = ['', ' handled', ' handled twice'];

function verdictOf(statuses: string, handled: number): Verdict {
  return statuses + (TIMES[handled] ?? ` handled ${handled} times`);
}
