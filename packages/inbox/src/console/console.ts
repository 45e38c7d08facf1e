import type { IncomingMessage } from 'node:http';
import { checkArgument, checkOptions, FUNCTION, type OptionRule } from '@payment-service/core/internal';
import { assetResponse } from '@payment-service/pages';
import type { AnyInbox } from '../inbox.ts';
import { ACT_NAMES } from '../operator/acts/action-log.ts';
import { BULK_ACTS } from '../operator/acts/operations.ts';
import { isInbox, versionOf } from '../operator/version.ts';
import { failureStack } from '../reporting/failure-text.ts';
import { isTimeZone } from '../time-zone.ts';
import { type ConsoleAccess, checkAccess, hasProof, mayBeOwnForm, proofFor } from './access.ts';
import { readForm } from './form.ts';
import { movedTo } from './moved.ts';
import { act, actInBulk, bulkPage } from './pages/acts.ts';
import { moneyPage, overviewPage } from './pages/overview.ts';
import { at, confirmation, forbidden, missingPage, plainResponse, type View } from './pages/page.ts';
import { paymentPage } from './pages/payment.ts';
import { paymentsPage, paymentsTable } from './pages/payments.ts';
import { reconcilePage } from './pages/reconcile.ts';

/** Options of `inboxConsole()`. */
export interface ConsoleOptions {
  /**
   * Returns who a visitor is and what they may do; undefined or false refuses the request. Called for every request, including
   * actions and files, and each time an open page asks for changes. The request has no body here.
   *
   * @param incoming Node's request, if it came through `nodeListener()`: with everything that your middleware added, such as a
   * session.
   */
  readonly authorize: (
    request: Request,
    incoming?: IncomingMessage,
  ) => ConsoleAccess | undefined | false | Promise<ConsoleAccess | undefined | false>;
  /**
   * The path under which browsers reach the console, such as '/admin/payments'.
   *
   * @default '', the root
   */
  readonly basePath?: string | undefined;
  /**
   * The time zone of the forms, the months and "today": an IANA name, such as 'Africa/Kampala'. Times and charts stay in UTC.
   *
   * @default 'UTC'
   */
  readonly timeZone?: string | undefined;
  /** Called with failures, such as an unavailable database; the visitor sees a constant page. @default console.error */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

/** The console of an inbox: a request handler. */
export interface InboxConsole {
  (request: Request, incoming?: IncomingMessage): Promise<Response>;
  readonly basePath: string;
  /** Passes an error to `onError`. Never rejects. */
  readonly reportError: (error: unknown) => Promise<void>;
}

const METHODS = ['GET', 'HEAD', 'POST'];

/** By path, which begins with a slash, unlike any member that objects inherit. */
const PAGES: Readonly<Record<string, (view: View) => Promise<Response>>> = {
  '/': overviewPage,
  '/payments': paymentsPage,
  '/payments.csv': paymentsTable,
  '/payment': paymentPage,
  '/acts': bulkPage,
  '/money': moneyPage,
  '/reconcile': reconcilePage,
};

/** The addresses of the pages. */
export const addresses: readonly string[] = Object.keys(PAGES);

const INBOX: OptionRule = [isInbox, 'the inbox that createInbox() returns'];

/**
 * Pages for the operators of an inbox: which payments need a person and why, the story of each, and what can be done. They work
 * without scripts, load nothing from other sites, and are served only to visitors whom `authorize` admits.
 *
 * @throws {ConfigurationError} Without `authorize`, or if `basePath` is not a path.
 *
 * @example
 * const admin = inboxConsole(inbox, {
 *   basePath: '/admin/payments',
 *   authorize: async (request) => {
 *     const user = await userOf(request);
 *     return user?.isSupport && { by: user.email, may: ['read', 'retry'] };
 *   },
 * });
 * app.use(nodeListener(admin)); // Express. On Hono: app.all('/admin/payments/*', ({ req }) => admin(req.raw))
 */
export function inboxConsole(inbox: AnyInbox, options: ConsoleOptions): InboxConsole {
  checkArgument('inboxConsole()', 'inbox', inbox, INBOX);
  checkOptions('inboxConsole()', options ?? {}, {
    authorize: [(value) => typeof value === 'function', 'a function that returns who a visitor is', true],
    basePath: [
      (value) => typeof value === 'string' && /^(?:\/[\w.~-]+)*$/.test(value),
      "a path without a slash at its end, such as '/admin/payments'",
    ],
    timeZone: [isTimeZone, "the name of a time zone, such as 'Africa/Kampala'"],
    onError: FUNCTION,
  });
  const { authorize, basePath = '', timeZone = 'UTC', onError = printError } = options;
  const version = shared(() => versionOf(inbox));

  const serve = async (request: Request, incoming: IncomingMessage | undefined): Promise<Response> => {
    const { url, headers, method, signal } = request;
    if (!METHODS.includes(method)) return plainResponse(405);
    const address = new URL(url);
    const { pathname, searchParams: query } = address;
    // A framework may pass the target as sent: its guards then read another path than the console (threat A64).
    if (sentPath(url) !== pathname) return new Response(null, { status: 400 });
    const isBelow = pathname === basePath || pathname.startsWith(`${basePath}/`);
    // A framework that mounts a handler may have removed the prefix.
    const path = (isBelow ? pathname.slice(basePath.length) : pathname) || '/';
    // With the prefix in either case: `authorize` gets the address of the page that is served.
    address.pathname = at({ basePath }, path);
    const access = checkAccess(await authorize(new Request(address, { headers, method, signal }), incoming));
    if (access === undefined) return plainResponse(403);
    if (!access.may.includes('read')) return forbidden('read');
    if (pathname === `${basePath}/` && basePath !== '') return redirectTo(basePath);
    const proof = proofFor(request, access.by, basePath);
    const said = confirmation.take(headers);
    const view: View = { inbox, basePath, timeZone, access, proof, path, query, said, version: '' };
    if (method === 'POST') {
      // Before the body, which costs far more (threat A63).
      if (!mayBeOwnForm(request)) return plainResponse(403);
      const one = ACT_NAMES.find((name) => path === `/act/${name}`);
      const many = BULK_ACTS.find((name) => path === `/acts/${name}`);
      const needs = path === '/reconcile' ? 'reconcile' : (one ?? many);
      if (needs === undefined) return plainResponse(405);
      if (!access.may.includes(needs)) return forbidden(needs);
      const form = await readForm(request, path === '/reconcile');
      if (typeof form === 'number') return plainResponse(form);
      if (!hasProof(form, proof)) return plainResponse(403);
      const dated = { ...view, version: await version() };
      if (one !== undefined) return act(dated, form, one);
      return many === undefined ? reconcilePage(view, form) : actInBulk(dated, form, many);
    }
    const [, asset = ''] = /^\/assets\/(.+)$/.exec(path) ?? [];
    const file = await assetResponse(asset);
    if (file !== undefined) return file;
    const moved = await movedTo(view);
    if (moved !== undefined) return redirectTo(at(view, moved));
    const show = PAGES[path] ?? missingPage;
    if (path.endsWith('.csv')) return show(view);
    // Read before the content: a change in between makes the page ask again.
    const dated = { ...view, version: await version() };
    if (headers.get('if-none-match') === `"${dated.version}"`) return new Response(null, { status: 304 });
    return show(dated);
  };

  const handle = async (request: Request, incoming?: IncomingMessage): Promise<Response> => {
    try {
      return await serve(request, incoming);
    } catch (error) {
      await reportError(error);
      return plainResponse(500);
    }
  };
  const reportError = async (error: unknown): Promise<void> => {
    const run = async (): Promise<unknown> => onError(error);
    await run().catch(printError);
  };
  return Object.assign(handle, { basePath, reportError });
}

/** The path of an address, before a URL removes its dot segments and backslashes. */
const sentPath = (url: string): string =>
  url.replace(/^[^:]*:\/\/[^/?#\\]*/, '').replace(/[?#].*/s, '') || '/';

const redirectTo = (location: string): Response => new Response(null, { status: 308, headers: { location } });

/** However many pages are open, they cost the database one statement in this time, or less often where it is slow. */
const VERSION_MS = 2000;
/** Slow reads use at most a twentieth of the time. */
const SHARE = 20;

/** Reads the version, which open pages follow, once for all of them: it may be one of shortly before. */
function shared(read: () => Promise<string>): () => Promise<string> {
  let known = '';
  let next = 0;
  let reading: Promise<string> | undefined;
  const readOnce = async (): Promise<string> => {
    const start = performance.now();
    try {
      known = await read();
      next = performance.now() + Math.max(VERSION_MS, SHARE * (performance.now() - start));
      return known;
    } finally {
      reading = undefined;
    }
  };
  return async () => {
    if (performance.now() < next) return known;
    reading ??= readOnce();
    return reading;
  };
}

function printError(error: unknown): void {
  console.error(`payment-service-inbox: the console could not answer a request.\n${failureStack(error)}`);
}
