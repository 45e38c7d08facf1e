/** A thread that owns one connection to the database file, so that no fsync ever blocks the event loop. */
import { parentPort } from 'node:worker_threads';
import { claim, startHandler } from './claim.ts';
import { SqliteConnection } from './connection.ts';
import { receiveGroup } from './intake.ts';
import { migrate } from './migrations.ts';
import { unpackRecords } from './packed-records.ts';
import { park } from './park.ts';
import { RefusedDatabase } from './refused-database.ts';
import { settle } from './settle.ts';
import { StartCounter } from './start-counter.ts';
import { StartNote } from './start-note.ts';
import type {
  ThreadFailure,
  ThreadMessage,
  ThreadReplies,
  ThreadReply,
  ThreadRequest,
} from './thread-messages.ts';

let connection: SqliteConnection | undefined;
let starts: StartCounter | undefined;

parentPort?.on('message', ({ id, request }: ThreadMessage) => {
  let reply: ThreadReply;
  try {
    reply = { id, value: answer(request) };
  } catch (error) {
    reply = { id, failure: failureOf(error) };
  }
  parentPort?.postMessage(reply);
  if (request.kind === 'close') parentPort?.close();
});

function answer(request: ThreadRequest): ThreadReplies[keyof ThreadReplies] {
  switch (request.kind) {
    case 'open':
      connection = new SqliteConnection(request.path, request.waitMs, request.identity);
      starts = new StartCounter(connection, new StartNote(request.path));
      return connection.identity;
    case 'migrate':
      migrate(open(), request.now);
      return undefined;
    case 'query':
      return open().query(request.text, request.values);
    case 'begin':
      open().begin();
      return undefined;
    case 'commit':
      open().commit();
      starts?.keep();
      return undefined;
    case 'rollback':
      starts?.forget();
      open().rollback();
      return undefined;
    case 'claim':
      return claim({ ...worker(), account: request.account, now: request.now });
    case 'startHandler':
      startHandler(worker(), request.transitionId);
      return undefined;
    case 'settle':
      return settle(open(), request.settlement);
    case 'park':
      return park(open(), request.parking);
    case 'receive':
      return receiveGroup(open(), request.account, unpackRecords(request.records));
    case 'close':
      connection?.close();
      connection = undefined;
      return undefined;
  }
}

function open(): SqliteConnection {
  if (connection === undefined) throw notOpened();
  return connection;
}

function worker(): { connection: SqliteConnection; starts: StartCounter } {
  if (starts === undefined) throw notOpened();
  return { connection: open(), starts };
}

function notOpened(): Error {
  return new Error('The SQLite thread was asked before it was opened.');
}

function failureOf(error: unknown): ThreadFailure {
  const isInTransaction = connection?.isInTransaction() ?? false;
  if (!(error instanceof Error))
    return { name: 'Error', message: String(error), errcode: undefined, option: undefined, isInTransaction };
  const errcode: unknown = Reflect.get(error, 'errcode');
  return {
    name: error.name,
    message: error.message,
    errcode: typeof errcode === 'number' ? errcode : undefined,
    option: error instanceof RefusedDatabase ? error.option : undefined,
    isInTransaction,
  };
}
