import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { atTheEnd, makeFolder } from '@payment-service/durability/measure/program.ts';
import { type CallbackOptions, paymentCallbacks as onExpress } from '@payment-service/express';
import { paymentCallbacks as onFastify } from '@payment-service/fastify';
import { paymentCallbacks as onFetch } from '@payment-service/fetch';
import { aesGcm, createInbox, type InboxOptions, sqlite } from '@payment-service/inbox';
import { type ConsoleAccess, inboxConsole } from '@payment-service/inbox/console';
import { paymentCallbacks as onKoa } from '@payment-service/koa';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import { callbackOf, listen } from './core-places.ts';
import { everythingIn, type Places, printedBy, SECRETS } from './secrets.ts';

const signingKey = SECRETS['signing key'];
const COMMAND = join(import.meta.dirname, '../../../../packages/inbox/src/command/command.ts');
const STORED: Readonly<Record<string, Partial<InboxOptions<never>>>> = {
  full: {},
  claims: { bodies: 'claims' },
  encrypted: { encryption: aesGcm({ current: 'k1', keys: { k1: Buffer.alloc(32, 7).toString('base64') } }) },
};

/** Requests that are accepted, refused, kept as evidence, repeated and parked, and one whose handler fails. */
const REQUESTS = [
  callbackOf('ORD-PAID'),
  callbackOf('ORD-PAID'),
  callbackOf('ORD-PAID', { request_amount: 9, transaction_amount: 9 }),
  callbackOf('ORD-FAILS'),
  callbackOf('ORD-UNKNOWN'),
  callbackOf('A:B'),
  callbackOf('ORD-FORGED', {}, 'another-key-of-some-length'),
  { ...callbackOf('ORD-CUT'), body: callbackOf('ORD-CUT').body.slice(0, -9) },
  { ...callbackOf('ORD-KEY'), headers: { 'hmac-signature': signingKey } },
];

const VERBS = [
  ...['ls', 'show ID', 'show ID --bodies', 'stats', 'overdue', 'status', 'doctor', 'health'],
  'expect --reference ORD-UNKNOWN --currency UGX --amount',
];

/** Everything that servers, inboxes, their files, the console and the command show. */
export async function merchantPlaces(): Promise<Places> {
  const places: Places = {};
  for (const [stored, options] of Object.entries(STORED))
    Object.assign(places, await inboxPlaces(stored, options));
  return places;
}

async function inboxPlaces(stored: string, options: Partial<InboxOptions<never>>): Promise<Places> {
  const folder = await makeFolder();
  const [path, spool] = [join(folder, 'shop.db'), join(folder, 'spool')];
  const events: unknown[] = [];
  const opened = (storeTimeoutMs?: number) => {
    const inbox = createInbox({
      ...options,
      store: sqlite(path, { lockTimeoutMs: 50 }),
      spool,
      storeTimeoutMs,
      retry: { attempts: 1 },
      onEvent: (event) => events.push(event),
    });
    atTheEnd(() => inbox.close());
    return inbox;
  };
  const inbox = opened();
  await inbox.ready();
  inbox.handle(({ signed }) => {
    if (signed.merchant_reference === 'ORD-FAILS') throw new Error('The ledger is unavailable.');
  });
  for (const merchant_reference of ['ORD-PAID', 'ORD-FAILS'])
    await inbox.expect({ merchant_reference, currency: 'UGX', amount: '500' });
  const refusals: unknown[] = [];
  const receiver = {
    signingKey,
    onCallback: inbox.receive,
    onAuthenticRefusal: inbox.quarantine,
    onRefused: (refusal: unknown) => refusals.push(refusal),
  };
  const places: Places = {};
  const printed = await printedBy(async () => {
    for (const [framework, listener] of Object.entries(await listenersOf(receiver)))
      places[`${framework}: answers`] = await answersOf(listener, REQUESTS);
    await inbox.drain();
    // Only the callback behind the lock may go to the spool, so only its receiver has a short timeout.
    const impatient = opened(300);
    await impatient.ready();
    const locked = new DatabaseSync(path);
    locked.exec('begin exclusive');
    const { express: listener = () => undefined } = await listenersOf({
      ...receiver,
      onCallback: impatient.receive,
    });
    places['inbox: answers while the database is locked'] = await answersOf(listener, [
      callbackOf('ORD-SPOOLED'),
    ]);
    places['inbox: the spool'] = contentsOf(spool);
    locked.exec('rollback');
    locked.close();
    await impatient.close();
  });
  places['inbox: what the process prints'] = printed;
  places['inbox: refusals'] = everythingIn(refusals);
  places['inbox: events'] = everythingIn(events);
  places['inbox: the inbox'] = everythingIn(inbox);
  places['inbox: stats() and health()'] = everythingIn([await inbox.stats(), await inbox.health()]);
  places['inbox: list()'] = everythingIn(await inbox.list({}));
  places['inbox: the database'] = contentsOf(folder);
  const [found] = await inbox.list({ merchant_reference: 'ORD-UNKNOWN' });
  const id = found?.transitionId ?? '';
  const visited = ['', '/transitions', `/transitions/${id}`, '/overdue', '/paid?reference=ORD-UNKNOWN'];
  const tables = ['/reconcile', '/transitions.csv', '/overdue.csv', `/transitions/${'0'.repeat(64)}`];
  for (const may of [
    ['read'],
    ['read', 'bodies', 'retry', 'resolve', 'reopen', 'expect', 'forget', 'reconcile'],
  ]) {
    const access: ConsoleAccess = { by: 'dana', may: may as ConsoleAccess['may'] };
    const handle = inboxConsole(inbox, { authorize: () => access });
    for (const page of [...visited, ...tables]) {
      const response = await handle(new Request(`http://127.0.0.1${page || '/'}`));
      const name = page.replace(/[0-9a-f]{64}/, (one) => (one === id ? 'id' : 'unknown'));
      places[`console ${may.includes('bodies') ? 'with' : 'without'} bodies: ${name || '/'}`] =
        `${JSON.stringify([...response.headers])} ${await response.text()}`;
    }
  }
  await inbox.close();
  for (const verb of stored === 'full' ? VERBS : [])
    for (const json of [[], ['--json']]) {
      const words = [...verb.split(' '), ...(verb.endsWith('--amount') ? [SECRETS.name] : []), ...json];
      const args = words.map((arg) => (arg === 'ID' ? id : arg));
      places[`command: ${words.join(' ')}`] = await commandOutput([...args, '--database', path]);
    }
  return Object.fromEntries(Object.entries(places).map(([name, shown]) => [`${stored}, ${name}`, shown]));
}

/** The same receiver on each framework. */
async function listenersOf(
  receiver: CallbackOptions & { readonly onCallback: NonNullable<CallbackOptions['onCallback']> },
): Promise<Record<string, RequestListener>> {
  const app = express();
  app.use('/callbacks', onExpress(receiver));
  const plugin = fastify({ return503OnClosing: false });
  plugin.register(onFastify(receiver), { prefix: '/callbacks' });
  await plugin.ready();
  const koa = new Koa();
  koa.use(onKoa(receiver));
  const handle = onFetch(receiver);
  return {
    express: app,
    fastify: (request, response) => plugin.routing(request, response),
    koa: koa.callback(),
    fetch: async (request, response) => {
      const init = { method: 'POST', headers: request.headers as Record<string, string> };
      const body = await text(request);
      const answer = await handle(new Request('http://127.0.0.1/callbacks', { ...init, body }));
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    },
  };
}

async function answersOf(listener: RequestListener, requests: typeof REQUESTS): Promise<string> {
  const url = `${await listen(listener)}/callbacks`;
  const answers: string[] = [];
  for (const { body, headers } of requests) {
    const response = await fetch(url, { method: 'POST', body, headers });
    answers.push(`${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`);
  }
  return answers.join('\n');
}

function contentsOf(folder: string): string {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'))
    .join('\n');
}

/** Output of the command, whatever its exit code. */
async function commandOutput(args: readonly string[]): Promise<string> {
  const run = promisify(execFile)(process.execPath, [COMMAND, ...args]);
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
  return stdout + stderr;
}
