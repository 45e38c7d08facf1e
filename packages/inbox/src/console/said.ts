import { cookie, cookieIn } from './access.ts';

const COOKIE = 'inbox-console-said';

/** Confirms an action on the next page that the visitor sees, with and without scripts. */
export function seeOther(location: string, said: string, path: string): Response {
  const setCookie = cookie(COOKIE, encodeURIComponent(said), path, 60);
  return new Response(null, {
    status: 303,
    headers: { location, 'set-cookie': setCookie, 'cache-control': 'no-store' },
  });
}

/** The confirmation to show on this page, once. Updates by the live module keep it. */
export function takeSaid(request: Request): string {
  if (request.headers.has('x-refresh')) return '';
  const text = cookieIn(request, COOKIE) ?? '';
  return /^(?:[\w.!~*'()-]|%[0-7][\dA-F])*$/.test(text) ? decodeURIComponent(text) : '';
}

/** Deletes it. */
export const forgetSaid = (path: string): string => cookie(COOKIE, '', path, 0);
