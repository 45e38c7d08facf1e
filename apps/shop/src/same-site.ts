/** As Node gives them: a header that came twice is joined or an array, and equals nothing then. */
export interface SiteHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | string[] | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
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
