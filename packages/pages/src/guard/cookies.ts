/** Where a cookie is sent, and for how long it is kept. */
interface CookieScope {
  /** '' is the root. */
  readonly path: string;
  /** In seconds; until the browser is closed by default. */
  readonly maxAge?: number;
  /** Over https only. */
  readonly isSecure?: boolean;
}

/** A value of the header `set-cookie`. Scripts cannot read the cookie, and forms of other sites are sent without it. */
export function cookie(name: string, value: string, { path, maxAge, isSecure }: CookieScope): string {
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`;
  return `${name}=${value}; Path=${path || '/'}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}${age}`;
}

/** The value of a cookie in the header `cookie`. */
export function cookieIn(header: string | null | undefined, name: string): string | undefined {
  const pairs = (header ?? '').split(/; */);
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Confirms an action on the next page that the visitor sees, with and without scripts. */
export interface Confirmation {
  /** The `set-cookie` of the response to the action. */
  readonly say: (text: string, path: string) => string;
  /** What to show on a page, once. Updates by the live module keep it. */
  readonly take: (headers: Headers) => string;
  /** The `set-cookie` of a page that shows it. */
  readonly forget: (path: string) => string;
}

export const confirmationIn = (name: string): Confirmation => ({
  say: (text, path) => cookie(name, encodeURIComponent(text), { path, maxAge: 60 }),
  take(headers) {
    const sent = headers.has('x-refresh') ? '' : cookieIn(headers.get('cookie'), name);
    const text = sent === undefined ? '' : decoded(sent);
    return encodeURIComponent(text) === sent ? text : '';
  },
  forget: (path) => cookie(name, '', { path, maxAge: 0 }),
});

/** '' for what `encodeURIComponent()` never returns. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
