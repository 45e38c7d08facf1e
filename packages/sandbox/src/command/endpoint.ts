import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect as connectTls } from 'node:tls';
import { isLoopback } from '@payment-service/core/internal';
import type { SandboxDelivery } from '../service/views.ts';
import { accepts, bare, portOf, reaches } from './program.ts';

/**
 * Where a program listens instead of the given address, in words; undefined while it listens nowhere. On Linux this is read
 * from the operating system, for the program and its children. Elsewhere only the other loopback address is tried.
 */
export async function listensElsewhere(pid: number, name: string, url: URL): Promise<string | undefined> {
  const port = portOf(url);
  const listeners = listenersOf(pid);
  const other = url.hostname === '[::1]' ? '127.0.0.1' : '[::1]';
  const otherUrl = withAddress(url, other, port);
  if (listeners.includes(port) || (await accepts(otherUrl)))
    return `${name} listens on ${other}:${port} only, but the callback URL has ${url.host}. Use --callback-url ${otherUrl}, or make the program listen on ${bare(url)}.`;
  const [found] = listeners;
  if (found === undefined) return undefined;
  const sameHost = withAddress(url, url.hostname, found);
  const meant = (await accepts(sameHost)) ? sameHost : withAddress(url, other, found);
  return `${name} listens on port ${found}, but the callback URL has port ${port}. Use --callback-url ${meant}, or make the program listen on port ${port}.`;
}

function withAddress(url: URL, hostname: string, port: number): URL {
  const changed = new URL(url);
  changed.hostname = hostname;
  changed.port = String(port);
  return changed;
}

/** The ports on which a process and its descendants accept connections, lowest first; empty without /proc. */
function listenersOf(pid: number): number[] {
  const sockets = new Set([pid, ...descendantsOf(pid)].flatMap(socketsOf));
  // Reading the tables of all connections takes milliseconds, so it is done only for a program that has opened a socket.
  if (sockets.size === 0) return [];
  const found = ['tcp', 'tcp6'].flatMap((file) =>
    linesOf(`/proc/${pid}/net/${file}`).flatMap((line) => {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      const isListening = state === '0A' && sockets.has(`socket:[${inode}]`);
      return isListening ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
    }),
  );
  return found.sort((left, right) => left - right);
}

function descendantsOf(pid: number): number[] {
  const children = linesOf(`/proc/${pid}/task/${pid}/children`).flatMap((line) => line.split(' '));
  return children
    .filter(Boolean)
    .map(Number)
    .flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Inherited input and output do not count, and Node's pipes are sockets. */
function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readable(() => readdirSync(folder))
    .filter((name) => Number(name) > 2)
    .flatMap((name) => readable(() => [readlinkSync(`${folder}/${name}`)]))
    .filter((target) => target.startsWith('socket:'));
}

const linesOf = (path: string): string[] => readable(() => readFileSync(path, 'utf8').split('\n'));

/** The process may have ended, and other systems have no /proc. */
function readable(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}

const PATIENCE_MS = 1000;
/** Every adapter's response to GET. Nothing else has this body. */
const OWN_ANSWER = '{"error":"method_not_allowed"}';

/**
 * What else can be observed about an endpoint that did not accept a callback, in words: whether its port speaks TLS, and
 * whether paymentCallbacks() is mounted on a similar path. Sends only GET and OPTIONS, which change nothing, and only on this
 * computer.
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
        : 'A prefix is probably missing: correct the callback URL or the path of the route.';
    return `${what} at ${path}. ${fix}`;
  }
  return undefined;
}

/** The path with doubled prefixes, and without some of its prefixes. */
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

async function asked(url: URL, method: string) {
  try {
    const answer = await fetch(url, { method, redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) });
    const body = (await answer.text()).slice(0, 200);
    return { status: answer.status, body, allow: answer.headers.get('allow') ?? '' };
  } catch {
    return undefined; // Nothing was learned: this request is not the delivery.
  }
}

/** Whether a TLS handshake succeeds there, with any certificate. Nothing is sent. */
function speaksTls(url: URL): Promise<boolean> {
  const endpoint = { host: bare(url), port: portOf(url), rejectUnauthorized: false, timeout: PATIENCE_MS };
  return reaches('secureConnect', connectTls(endpoint));
}
