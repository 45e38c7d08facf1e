/** A thread that owns one connection to the database file, so that no fsync ever blocks the event loop. */
import { parentPort } from 'node:worker_threads';
import { claim } from './claim.ts';
import { SqliteConnection } from './connection.ts';
import { receiveGroup } from './intake.ts';
import { migrate } from './migrations.ts';
import { unpackRecords } from './packed-records.ts';
import { park } from './park.ts';
import { RefusedDatabase } from './refused-database.ts';
import { settle } from './settle.ts';
import type {
  OpenRequest,
  ThreadFailure,
  ThreadMessage,
  ThreadReplies,
  ThreadReply,
  ThreadRequest,
} from './thread-messages.ts';

let opened: OpenRequest | undefined;
let connection: SqliteConnection | undefined;
/** For counts that must outlive the process and need not outlive the machine. */
let relaxed: SqliteConnection | undefined;

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
      connection = new SqliteConnection(request.path, request.waitMs);
      opened = request;
      return undefined;
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
      return undefined;
    case 'rollback':
      open().rollback();
      return undefined;
    case 'claim':
      return claim({ connection: open(), relaxed: openRelaxed, account: request.account, now: request.now });
    case 'settle':
      return settle(open(), request.settlement);
    case 'park':
      return park(open(), request.parking);
    case 'receive':
      return receiveGroup(open(), request.account, unpackRecords(request.records));
    case 'close':
      relaxed?.close();
      connection?.close();
      return undefined;
  }
}

function open(): SqliteConnection {
  if (connection === undefined) throw new Error('The SQLite thread was asked before it was opened.');
  return connection;
}

function openRelaxed(): SqliteConnection {
  relaxed ??= new SqliteConnection(opened?.path ?? '', opened?.waitMs ?? 0, 'NORMAL');
  return relaxed;
}

function failureOf(error: unknown): ThreadFailure {
  if (!(error instanceof Error))
    return { name: 'Error', message: String(error), errcode: undefined, option: undefined };
  const errcode: unknown = Reflect.get(error, 'errcode');
  return {
    name: error.name,
    message: error.message,
    errcode: typeof errcode === 'number' ? errcode : undefined,
    option: error instanceof RefusedDatabase ? error.option : undefined,
  };
}
