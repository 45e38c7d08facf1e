import { connect as connectTls } from 'node:tls';
import { isLoopback } from '@payment-service/core/internal';
import type { SandboxDelivery } from '../service/views.ts';
import { accepts, portOf } from './program.ts';

const PATIENCE_MS = 1000;
/** What every adapter answers to a GET: nothing else gives this body. */
const OWN_ANSWER = '{"error":"method_not_allowed"}';

/**
 * What else can be seen of an endpoint that did not take a callback, in words: the port is asked whether it speaks TLS, and
 * paths near by whether paymentCallbacks() is there. Asks with GET and OPTIONS, which change nothing, on this computer only.
 */
export async function lookAt({ url: address, attempts }: SandboxDelivery): Promise<string | undefined> {
  const attempt = attempts.at(-1);
  const url = new URL(address);
  if (attempt === undefined || !isLoopback(url.hostname)) return undefined;
  if (attempt.status === 404) return nearRoute(url);
  if (attempt.status !== null) return undefined;
  if (url.protocol === 'http:' && (await accepts(url)) && (await speaksTls(url)))
    return `Port ${portOf(url)} speaks TLS. Use https:// in the callback URL.`;
  return undefined;
}

async function nearRoute(url: URL): Promise<string | undefined> {
  if ((await routeAt(url)) === 'own')
    return 'paymentCallbacks() is mounted at this path for GET, and not for POST. Mount it with app.use() or app.post().';
  for (const path of nearPaths(url.pathname)) {
    const near = new URL(path, url);
    const found = await routeAt(near);
    if (found === undefined) continue;
    const what = found === 'own' ? 'paymentCallbacks() answers' : 'A route for POST is';
    const fix =
      path.length > url.pathname.length
        ? 'A prefix probably appears twice: mount the route at / inside its router, or correct the callback URL.'
        : 'A prefix is probably missing: correct the callback URL, or the path of the route.';
    return `${what} at ${path}. ${fix}`;
  }
  return undefined;
}

/** The path with its prefixes doubled, and without some of them. */
function nearPaths(path: string): readonly string[] {
  const parts = path.split('/').filter(Boolean);
  const paths = parts.flatMap((_, at) => {
    const [before, after] = [parts.slice(0, at + 1), parts.slice(at + 1)];
    return [[...before, ...before, ...after], after];
  });
  const near = [...paths, ['api', ...parts]].map((each) => `/${each.join('/')}`);
  return [...new Set(near)].filter((each) => each !== path).slice(0, 12);
}

async function routeAt(url: URL): Promise<'own' | 'post' | undefined> {
  const answer = await asked(url, 'GET');
  if (answer?.status === 405 && answer.body === OWN_ANSWER) return 'own';
  const options = await asked(url, 'OPTIONS');
  return options?.allow.includes('POST') ? 'post' : undefined;
}

async function asked(
  url: URL,
  method: string,
): Promise<{ status: number; body: string; allow: string } | undefined> {
  try {
    const answer = await fetch(url, { method, redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) });
    const body = (await answer.text()).slice(0, 200);
    return { status: answer.status, body, allow: answer.headers.get('allow') ?? '' };
  } catch {
    return undefined; // It told nothing: this look is not the delivery.
  }
}

/** Whether a TLS handshake succeeds there, whatever the certificate says: nothing is sent. */
function speaksTls(url: URL): Promise<boolean> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const socket = connectTls({ host, port: portOf(url), rejectUnauthorized: false, timeout: PATIENCE_MS });
  return new Promise((resolve) => {
    const end = (isTls: boolean) => (): void => {
      socket.destroy();
      resolve(isTls);
    };
    socket.once('secureConnect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}
