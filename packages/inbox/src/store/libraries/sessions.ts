import type { PostgresPool } from '../postgres/connection.ts';
import { member } from './pool-below.ts';

/** What the server has reported about a session, which `pg` shows below its client without a statement. */
export interface Session {
  /** In a transaction, which may have failed. */
  isInTransaction: boolean;
  /** How often it has answered COMMIT with a commit, and not with a rollback. */
  commits: number;
}

const SESSIONS = new WeakMap<object, Session>();
const GUARDED = new WeakSet<object>();
/** How long a program may keep a connection that has ended before its pool gets the place back. */
const LEFT_MS = 1000;

/** Undefined for anything but a JavaScript client of `pg`. */
export function sessionOf(client: unknown): Session | undefined {
  const below = member(client, 'connection');
  if (!(client instanceof Object) || !emits(below)) return undefined;
  const known = SESSIONS.get(client);
  if (known !== undefined) return known;
  const session: Session = { isInTransaction: false, commits: 0 };
  below.on('commandComplete', (message) => {
    if (member(message, 'text') === 'COMMIT') session.commits += 1;
  });
  below.on('readyForQuery', (message) => {
    session.isInTransaction = member(message, 'status') !== 'I';
  });
  SESSIONS.set(client, session);
  return session;
}

/**
 * A library can return a connection inside a transaction, where nothing that follows is committed: TypeORM does when a nested
 * transaction overlaps the end of the outer one. It can also keep a connection whose BEGIN failed, as Drizzle does, until the
 * pool has none left. The pool does not lend the first again, and gets the place of the second back (threat A76).
 */
export function guard(pool: PostgresPool | undefined): void {
  if (!emits(pool) || GUARDED.has(pool)) return;
  GUARDED.add(pool);
  /** Whether each client is lent now. */
  const lent = new WeakMap<object, boolean>();
  const takeBack = (client: object): void => {
    const release: unknown = member(client, 'release');
    if (lent.get(client) !== true || !(release instanceof Function)) return;
    // Its user may still release it.
    Object.assign(client, { release: () => undefined });
    release(true);
  };
  pool.on('acquire', (client) => {
    sessionOf(client);
    if (!emits(client)) return;
    if (!lent.has(client)) client.on('end', () => setTimeout(takeBack, LEFT_MS, client).unref());
    lent.set(client, true);
  });
  pool.on('release', (_error, client) => {
    if (!emits(client)) return;
    lent.set(client, false);
    // A pool removes a client that is ending.
    if (sessionOf(client)?.isInTransaction === true) client.end?.();
  });
}

interface Emitter {
  on(event: string, listener: (...values: unknown[]) => void): unknown;
  end?(): unknown;
}

function emits(value: unknown): value is Emitter {
  return typeof member(value, 'on') === 'function';
}
