import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { accepts, portOf } from './program.ts';

/** A port on which a program accepts connections. */
interface Listener {
  readonly port: number;
  readonly isIpv6: boolean;
}

/**
 * Where a program listens instead of at an address, in words; undefined while it listens nowhere. On Linux it is read from
 * the operating system, for the program and those that it started. Elsewhere only the other loopback address is tried.
 */
export async function listensElsewhere(pid: number, name: string, url: URL): Promise<string | undefined> {
  const port = portOf(url);
  const listeners = listenersOf(pid);
  const isOtherFamily =
    listeners.some((one) => one.port === port) || (await accepts(withAddress(url, otherLoopback(url), port)));
  if (isOtherFamily) {
    const other = otherLoopback(url);
    return `${name} listens on ${other}:${port} only, but the callback URL has ${url.host}. Use --callback-url ${withAddress(url, other, port)}, or let the program listen on ${bare(url.hostname)}.`;
  }
  const [found] = listeners;
  if (found === undefined) return undefined;
  const host = found.isIpv6 ? '[::1]' : '127.0.0.1';
  const meant = withAddress(
    url,
    (await accepts(withAddress(url, url.hostname, found.port))) ? url.hostname : host,
    found.port,
  );
  return `${name} listens on port ${found.port}, but the callback URL has port ${port}. Use --callback-url ${meant}, or let the program listen on port ${port}.`;
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
const otherLoopback = ({ hostname }: URL): string => (hostname === '[::1]' ? '127.0.0.1' : '[::1]');

function withAddress(url: URL, hostname: string, port: number): URL {
  const changed = new URL(url);
  changed.hostname = hostname;
  changed.port = String(port);
  return changed;
}

/** The listeners of a process and its descendants, the lowest port first; none where there is no /proc. */
function listenersOf(pid: number): Listener[] {
  const sockets = new Set([pid, ...descendantsOf(pid)].flatMap(socketsOf));
  const found = ['tcp', 'tcp6'].flatMap((file) =>
    linesOf(`/proc/${pid}/net/${file}`).flatMap((line): Listener[] => {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      const isListening = state === '0A' && sockets.has(`socket:[${inode}]`);
      return isListening
        ? [{ port: Number.parseInt(local.split(':')[1] ?? '', 16), isIpv6: file === 'tcp6' }]
        : [];
    }),
  );
  return found.sort((left, right) => left.port - right.port);
}

function descendantsOf(pid: number): number[] {
  const children = linesOf(`/proc/${pid}/task/${pid}/children`).flatMap((line) => line.split(' '));
  return children
    .filter(Boolean)
    .map(Number)
    .flatMap((child) => [child, ...descendantsOf(child)]);
}

function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readable(() => readdirSync(folder)).flatMap((name) =>
    readable(() => [readlinkSync(`${folder}/${name}`)]),
  );
}

const linesOf = (path: string): string[] => readable(() => readFileSync(path, 'utf8').split('\n'));

/** A process may have ended, and other systems have no /proc: then nothing is known. */
function readable(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
