import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listening } from '@payment-service/durability/load/serve.ts';
import { atTheEnd, makeFolder } from '@payment-service/durability/measure/program.ts';
import { paymentCallbacks as onExpress } from '@payment-service/express';
import { paymentCallbacks as onFetch } from '@payment-service/fetch';
import { aesGcm, createInbox, type InboxOptions, sqlite } from '@payment-service/inbox';
import { type ConsoleAccess, inboxConsole } from '@payment-service/inbox/console';
import { addresses } from '@payment-service/inbox/console/addresses';
import { examplesOf } from '@payment-service/servers/examples';
import express from 'express';
import { callbackOf } from './core-places.ts';
import { everythingIn, type Places, printedBy, SECRETS } from './secrets.ts';

const signingKey = SECRETS['signing key'];
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
const PAGES = {
  '/': '/',
  '/payments': '/payments',
  '/payments.csv': '/payments.csv',
  '/payment': [
    '/payment?reference=ORD-UNKNOWN',
    '/payment?reference=ORD-PAID',
    '/payment?reference=ORD-FAILS',
  ],
  '/acts': '/acts?act=retry&reason=attempts_used_up',
  '/money': '/money',
  '/reconcile': '/reconcile',
};
const MAY: Readonly<Record<string, ConsoleAccess['may']>> = {
  'without bodies': ['read'],
  'with bodies': ['read', 'bodies', 'retry', 'close', 'apply', 'accept', 'expect', 'forget', 'reconcile'],
};
const VERBS: readonly string[] = [
  ...['ls', 'show ID', 'show ID --bodies', 'stats', 'overdue', 'status', 'doctor', 'health'],
  `expect --reference ORD-UNKNOWN --currency UGX --amount ${SECRETS.phone}x`,
];

/** Everything that servers, inboxes, their files, the console and the command show. */
export async function merchantPlaces(): Promise<Places> {
  const places: Places = {};
  for (const [stored, options] of Object.entries(STORED))
    for (const [place, shown] of Object.entries(await inboxPlaces(options, stored === 'full')))
      places[`${stored}, ${place}`] = shown;
  return places;
}

async function inboxPlaces(options: Partial<InboxOptions<never>>, hasCommand: boolean): Promise<Places> {
  const folder = await makeFolder();
  const path = join(folder, 'shop.db');
  const [events, refusals]: [unknown[], unknown[]] = [[], []];
  const onEvent = (event: unknown): unknown => events.push(event);
  const inbox = createInbox({ ...options, store: sqlite(path), retry: { attempts: 1 }, onEvent });
  atTheEnd(() => inbox.close());
  await inbox.ready();
  inbox.handle('paid', ({ signed }) => {
    if (signed.merchant_reference === 'ORD-FAILS') throw new Error('The ledger is unavailable.');
  });
  for (const merchant_reference of ['ORD-PAID', 'ORD-FAILS'])
    await inbox.expect({ merchant_reference, currency: 'UGX', amount: '500' });
  await inbox.expect({
    merchant_reference: 'ORD-LATE',
    currency: 'UGX',
    amount: '500',
    deadline: new Date(0),
  });
  const places: Places = {};
  places['inbox: what the process prints'] = await printedBy(async () => {
    const receiver = {
      signingKey,
      ...inbox.route,
      onRefused: (refusal: unknown) => refusals.push(refusal),
    };
    const server = createServer(express().use('/callbacks', onExpress(receiver)));
    const url = `http://127.0.0.1:${await listening(server)}/callbacks`;
    atTheEnd(async () => server.close());
    const handle = onFetch(receiver);
    const servers = {
      express: fetch,
      fetch: (_: string, init: RequestInit) => handle(new Request(url, init)),
    };
    for (const [framework, send] of Object.entries(servers)) {
      const answers: string[] = [];
      for (const { body, headers } of REQUESTS)
        answers.push(await shownBy(await send(url, { method: 'POST', body, headers })));
      places[`${framework}: answers`] = answers.join('\n');
    }
    await inbox.drain();
  });
  const [stats, health, list] = [await inbox.stats(), await inbox.health(), await inbox.reports({})];
  for (const [what, value] of Object.entries({ refusals, events, inbox, stats, health, list }))
    places[`inbox: ${what}`] = everythingIn(value);
  const files = readdirSync(folder).filter((file) => /^shop\.db(-wal)?$/.test(file));
  places['inbox: the database'] = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
  const [found] = await inbox.reports({ merchant_reference: 'ORD-UNKNOWN' });
  const id = found?.transitionId ?? '';
  const pages = examplesOf('The console', addresses, PAGES);
  for (const [what, may] of Object.entries(MAY)) {
    const handle = inboxConsole(inbox, { authorize: () => ({ by: 'dana', may }) });
    for (const [path, address] of pages) {
      const response = await handle(new Request(`http://127.0.0.1${path}`));
      // Without the permission to act, some pages are not shown.
      if (response.status !== 200 && may.length > 1)
        throw new Error(`${path} was answered with ${response.status}.`);
      places[`console ${what}: ${address}`] = await shownBy(response);
    }
  }
  await inbox.close();
  const command = join(import.meta.dirname, '../../../../packages/inbox/src/command/command.ts');
  for (const verb of hasCommand ? VERBS.flatMap((one) => [one, `${one} --json`]) : []) {
    const args = `${verb.replace('ID', id)} --database ${path}`.split(' ');
    const { stdout, stderr } = spawnSync(process.execPath, [command, ...args], { encoding: 'utf8' });
    places[`command: ${verb}`] = stdout + stderr;
  }
  return places;
}

async function shownBy(response: Response): Promise<string> {
  return `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`;
}
