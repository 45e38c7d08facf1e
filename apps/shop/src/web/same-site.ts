import { isIP } from 'node:net';
import { isLoopback } from '../config.ts';

/** As Node gives them: a header that came twice is joined or an array, and equals nothing then. */
export interface SiteHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | string[] | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
}

/** The shop's own addresses, such as http://127.0.0.1:3000. */
export interface OwnAddresses {
  /** Where it listens. */
  readonly origin: string;
  /** How the service and the customers reach it. */
  readonly shopUrl: string;
}

/**
 * Whether a form was sent by a page of another site. Browsers say where it comes from: in Sec-Fetch-Site where the shop
 * is reached over https or on this computer, else in Origin. Programs say neither, and have no customer's cookies.
 */
export function isFromAnotherSite({ host, origin, 'sec-fetch-site': site }: SiteHeaders): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined) return false;
  return typeof origin !== 'string' || host === undefined || URL.parse(origin)?.host !== host;
}

/** A name, an IPv4 address or an IPv6 address in brackets, and a port. `URL.parse()` alone would take more. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Whether the browser asked for the shop under one of its own addresses. Otherwise any site could give its own name the
 * address of this computer (DNS rebinding): the browser would take the shop for a part of that site, and show it
 * everything.
 */
export function isOwnHost(host: string | undefined, { origin, shopUrl }: OwnAddresses): boolean {
  if (host === undefined || !HOST.test(host)) return false;
  if (isHostOf(host, shopUrl) || isHostOf(host, origin)) return true;
  const asked = URL.parse(`http://${host}`);
  const listening = new URL(origin);
  if (asked === null || asked.port !== listening.port) return false;
  // A numeric address is not a name that another site could point here.
  return isLoopback(bare(asked)) || (isEverywhere(bare(listening)) && isIP(bare(asked)) !== 0);
}

/** Without the port where it is the usual one, and in lower case. */
function isHostOf(host: string, address: string): boolean {
  const own = new URL(address);
  return URL.parse(`${own.protocol}//${host}`)?.host === own.host;
}

function bare({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function isEverywhere(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
