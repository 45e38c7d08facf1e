import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';

const NAME = 'sandbox-said';

/** Confirms something on the next page that the reader sees, with and without script. */
export const say = (c: Context, text: string): void =>
  setCookie(c, NAME, text, { path: '/', httpOnly: true, sameSite: 'Strict', maxAge: 60 });

/** What is to be confirmed on this page, once. An update that the live module asks for leaves it. */
export function takeSaid(c: Context): string {
  if (c.req.header('x-refresh') !== undefined) return '';
  const text = getCookie(c, NAME) ?? '';
  if (text !== '') deleteCookie(c, NAME, { path: '/' });
  return text;
}
