import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { ConfigurationError } from '@payment-service/core';
import { cookie, cookieIn, isFromOwnPage, senderOf } from '@payment-service/pages';
import { ACT_NAMES, type ActName } from '../operator/acts/action-log.ts';

const COOKIE = 'inbox-console';

/**
 * What a visitor may do: see the pages, see the names and phone numbers in bodies, and each act on a payment. `reconcile` allows
 * seeing totals and importing a statement, which can settle payments.
 */
export type ConsolePermission = 'read' | 'bodies' | ActName | 'reconcile';

const PERMISSIONS: readonly ConsolePermission[] = ['read', 'bodies', ...ACT_NAMES, 'reconcile'];

/** Who a visitor is, and what they may do. */
export interface ConsoleAccess {
  /** Kept with every action: a name or an id of your users, at most 200 characters. */
  readonly by: string;
  readonly may: readonly ConsolePermission[];
}

/** @throws {ConfigurationError} If `authorize()` returned anything but an access or nothing. */
export function checkAccess(access: unknown): ConsoleAccess | undefined {
  if (access === undefined || access === null || access === false) return undefined;
  if (isAccess(access)) return access;
  throw new ConfigurationError(
    'authorize',
    `authorize() must return { by, may }, or undefined for a visitor without access. by identifies the visitor in 1 to 200 characters; may is a list of ${PERMISSIONS.join(', ')}.`,
  );
}

function isAccess(value: unknown): value is ConsoleAccess {
  const { by, may }: Readonly<Record<string, unknown>> = Object(value);
  const isNamed = typeof by === 'string' && by.trim() !== '' && by.length <= 200;
  return isNamed && Array.isArray(may) && may.every((one) => PERMISSIONS.includes(one));
}

/**
 * The proof in a form that a page of the console made it for this visitor: an HMAC of `by` with a random key in a cookie. No
 * process needs a key of its own, so every process accepts the form (decision D58).
 */
export interface FormProof {
  readonly value: string;
  /** Sets the cookie, if the visitor has none. */
  readonly setCookie: string | undefined;
}

export function proofFor(request: Request, by: string, path: string): FormProof {
  const known = keyIn(request);
  const key = known ?? randomBytes(16).toString('hex');
  const setCookie = known === undefined ? cookie(COOKIE, key, { path }) : undefined;
  return { value: proofOf(key, by), setCookie };
}

/**
 * Whether a form can belong to a page that the console made for this visitor: it comes from this origin, from a browser with
 * the key of a proof. Known before the form is read (threat A63).
 */
export function mayBeOwnForm(request: Request): boolean {
  return keyIn(request) !== undefined && isFromOwnPage(senderOf(request));
}

/** Whether the form that was read belongs to such a page (threat A55). */
export function hasProof(form: URLSearchParams, { value }: FormProof): boolean {
  const given = Buffer.from(form.get('proof') ?? '');
  const expected = Buffer.from(value);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const keyIn = (request: Request): string | undefined => {
  const key = cookieIn(request.headers.get('cookie'), COOKIE);
  return key !== undefined && /^[0-9a-f]{32}$/.test(key) ? key : undefined;
};

const proofOf = (key: string, by: string): string => createHmac('sha256', key).update(by).digest('hex');
