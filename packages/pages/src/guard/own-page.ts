/** The headers of a request that say where it comes from. */
interface Sender {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | readonly string[] | undefined;
}

/**
 * Whether a page of this server sent a form. Browsers report where a form comes from: in Sec-Fetch-Site over https and on this
 * computer, otherwise in Origin, whose scheme is not compared, since a proxy may end TLS.
 *
 * @param options.orProgram also accepts requests that no page sent. Programs send neither header, and have no visitor's cookies.
 */
export function isFromOwnPage(sender: Sender, options: { readonly orProgram?: boolean } = {}): boolean {
  const { host, origin, 'sec-fetch-site': site } = sender;
  const { orProgram = false } = options;
  if (site !== undefined && site !== 'none') return site === 'same-origin';
  if (site === 'none' || origin === undefined) return orProgram;
  // A file has an empty host.
  return Boolean(host) && URL.parse(origin)?.host === host;
}

/** The same of a request, which may come without a socket and then has no Host. */
export const senderOf = ({ headers, url }: Request): Sender => ({
  host: new URL(url).host,
  ...Object.fromEntries(headers),
});
