import { isIP } from 'node:net';
import { isLoopback } from '../config.ts';

/** As parsed by Node: a repeated header is joined or an array, and then equals nothing. */
export interface SiteHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | string[] | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
}

/** The shop's own addresses, such as http://127.0.0.1:3000. */
export interface OwnAddresses {
  /** Where it listens. */
  readonly origin: string;
  /** The address for the service and the customers. */
  readonly shopUrl: string;
}

/**
 * Whether a page of another site sent a form. Browsers report its origin: in Sec-Fetch-Site if the shop is reached over https
 * or on this computer, otherwise in Origin. Programs send neither, and have no customer's cookies.
 */
export function isFromAnotherSite({ host, origin, 'sec-fetch-site': site }: SiteHeaders): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined) return false;
  return typeof origin !== 'string' || host === undefined || URL.parse(origin)?.host !== host;
}

const EVERYWHERE = ['0.0.0.0', '::'];
/** A name, an IPv4 address or an IPv6 address in brackets, and a port. `URL.parse()` alone would accept more. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Whether the browser requested the shop under one of its own addresses. Otherwise any site could point its own name to the
 * address of this computer (DNS rebinding): the browser would treat the shop as part of that site, and let it read everything.
 */
export function isOwnHost(host: string | undefined, { origin, shopUrl }: OwnAddresses): boolean {
  if (host === undefined || !HOST.test(host)) return false;
  if (isHostOf(host, shopUrl) || isHostOf(host, origin)) return true;
  const asked = URL.parse(`http://${host}`);
  const listening = new URL(origin);
  if (asked === null || asked.port !== listening.port) return false;
  // A numeric address is not a name that another site could point here.
  return isLoopback(bare(asked)) || (EVERYWHERE.includes(bare(listening)) && isIP(bare(asked)) !== 0);
}

/** In lower case, without the default port. */
function isHostOf(host: string, address: string): boolean {
  const own = new URL(address);
  return URL.parse(`${own.protocol}//${host}`)?.host === own.host;
}

function bare({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}
