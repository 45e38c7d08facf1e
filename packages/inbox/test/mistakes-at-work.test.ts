/**
 * The mistakes of a merchant's first week that are seen only while the program runs: what is written, and what it prints or
 * throws, its payment says, or doctor finds. Two texts each, as in mistakes.test.ts: what names it, and what to do.
 */
import { paymentCallbacks } from '@payment-service/fetch';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { inboxConsole } from '../src/console/index.ts';
import { aesGcm, type Handled, type Inbox, type InboxOptions, postgres } from '../src/index.ts';
import { drizzle } from '../src/store/libraries/drizzle.ts';
import { callback, paid, SIGNING_KEY, signedText } from './support/callbacks.ts';
import { commandOn } from './support/command.ts';
import { type AnyTransaction, type Merchant, newMerchant } from './support/merchant.ts';
import { MINUTE_MS, money } from './support/shop.ts';
import { until, workOff } from './support/until.ts';

type Own = Inbox<AnyTransaction>;
type Run = (handled: Handled<AnyTransaction, 'paid'>) => unknown;

interface Desk {
  readonly merchant: Merchant;
  /** An inbox that prints what it reports, as by default. */
  readonly open: (options?: Partial<InboxOptions<AnyTransaction>>) => Own;
  /** Expects and receives a payment, and applies it with this handler. */
  readonly apply: (run: Run) => Promise<Own>;
  /** All that was printed. */
  readonly printed: () => string;
}
type Mistake = readonly [what: string, write: (desk: Desk) => unknown, named: RegExp, fix: RegExp];

/** As JavaScript would pass it. */
const any = (value: unknown) => value as never;

/** A builder of queries: it runs when it is awaited. */
const lazy = (run: () => Promise<void>): object =>
  Object.defineProperty({}, 'then', {
    value: (...next: Parameters<Promise<void>['then']>) => run().then(...next),
  });

async function adviceOf(inbox: Own): Promise<string> {
  const { heading, sentence, todo } = (await inbox.payment('ORD-1'))?.advice ?? {};
  return [heading, sentence, todo].join(' ');
}

const NOTHING = /transaction changed nothing: the payment is settled here, and probably nowhere else/;

const MISTAKES: readonly Mistake[] = [
  [
    'a query that is not awaited, and is lazy',
    ({ apply, merchant }) =>
      apply(({ tx }) => {
        lazy(() => merchant.credit(tx, 'ORD-1', '500'));
      }),
    NOTHING,
    /Look for a query that is not awaited/,
  ],
  [
    'an update that matches no row',
    ({ apply, merchant }) => apply(({ tx }) => merchant.uncredit(tx, 'ORD-1 ')),
    NOTHING,
    /a statement that matches no row/,
  ],
  [
    'a handler on a connection other than tx',
    ({ apply, merchant }) =>
      apply(() => merchant.query('insert into credit values ($1, $2)', ['ORD-1', '500'])),
    NOTHING,
    /a connection other than tx/,
  ],
  [
    'a handler that commits',
    ({ apply }) => apply(({ tx }) => tx.query('commit')),
    /It is dead: transaction_ended, and waits for an operator because its effects may be committed/,
    /Leave COMMIT and ROLLBACK to the inbox/,
  ],
  [
    'an error of SQL that a handler catches',
    ({ apply, merchant }) =>
      apply(async ({ tx }) => {
        await tx.query('select * from nothing').catch(() => undefined);
        await merchant.credit(tx, 'ORD-1', '500');
      }),
    /an earlier statement of this transaction failed, and its error was caught/,
    /Let it leave the handler/,
  ],
  [
    'a handler that throws a string',
    ({ apply }) => apply(() => Promise.reject('no such order')),
    /attempt 1 of transition \w+ failed\.[\s\S]*no such order/,
    /Its transaction was rolled back, and it runs again in \d+ s/,
  ],
  [
    'a status in lower case',
    ({ open }) => open({ statuses: { failed: 'failed' } }),
    /createInbox\(\) names the status 'failed'/,
    /Write 'FAILED' if you mean that/,
  ],
  [
    'an event without its last letter',
    ({ open }) => open({ completedEvents: ['transaction.complete'] }),
    /names the event 'transaction\.complete'/,
    /Write 'transaction\.completed'/,
  ],
  [
    'a type as the list of providers spells it',
    ({ open }) => open().handle('paid', () => undefined, { type: 'Collection' }),
    /handle\(\) names the type 'Collection'/,
    /Write 'COLLECTION'/,
  ],
  [
    'a currency in lower case',
    ({ open }) => open().expect({ ...money('ORD-1'), currency: 'ugx' }),
    /the currency "ugx"\. Currencies are compared character by character/,
    /Pass "UGX" if you mean that/,
  ],
  [
    'a route that drops the promise of the inbox',
    async ({ open, printed }) => {
      const inbox = open();
      await inbox.ready();
      const onCallback = (one: Parameters<typeof inbox.route.onCallback>[0]) => {
        inbox.route.onCallback(one);
      };
      const route = paymentCallbacks({ signingKey: SIGNING_KEY, ...inbox.route, onCallback });
      const { signature, body } = signedText();
      const headers = { 'hmac-signature': signature };
      await route(new Request('https://shop.example/', { method: 'POST', headers, body }));
      await until(() => printed() !== '');
    },
    /answered 200 before the inbox had kept a callback/,
    /Return the promise, as in onCallback/,
  ],
  [
    'a worker that was never started',
    async ({ open, merchant, printed }) => {
      await open().route.onCallback(paid('ORD-1', 500));
      await merchant.advance(2 * MINUTE_MS);
      await open().route.onCallback(paid('ORD-2', 500));
      await until(() => printed() !== '');
    },
    /Probably no process runs inbox\.work\(\)/,
    /start one, or call drain\(\)/,
  ],
  [
    'an amount in cents',
    async ({ apply, open }) => {
      await open().expect(money('ORD-1', 50_000));
      return adviceOf(await apply(() => undefined));
    },
    /UGX 50,000 is expected/,
    /your expectation is wrong, or someone changed the callback\. Ask the service what was paid/,
  ],
  [
    'a status that no handler takes',
    async ({ apply, open, merchant }) => {
      await open().route.onCallback(
        callback({ transaction_status: 'DECLINED' }, { event: 'transaction.declined' }),
      );
      await apply(({ tx }) => merchant.credit(tx, 'ORD-1', '500'));
      return (await commandOn(merchant).run('doctor')).stdout;
    },
    /No handler accepts reports of COLLECTION with the status DECLINED \(1\)/,
    /Add a handler with handle\(\), or give the status a meaning in the option statuses/,
  ],
  [
    'expect() in a transaction before ready()',
    ({ open, merchant }) => merchant.transaction((tx) => open().expect(money('ORD-1'), { tx })),
    /before expect\(\{ tx \}\)/,
    /Call ready\(\) when the program starts/,
  ],
  [
    'an inbox that was closed',
    async ({ open }) => {
      const inbox = open();
      await inbox.close();
      await inbox.expect(money('ORD-1'));
    },
    /This inbox is closed/,
    /Create a new one/,
  ],
  [
    'work() without a handler',
    ({ open }) => open().work(),
    /work\(\) needs a handler/,
    /call handle\(\) first/,
  ],
  [
    'work() twice',
    async ({ open }) => {
      const inbox = open();
      inbox.handle('paid', () => undefined);
      void inbox.work();
      await inbox.work();
    },
    /This inbox is already working/,
    /To run more handlers, use concurrency/,
  ],
  [
    'work() with the controller in the place of its signal',
    ({ open }) => {
      const inbox = open();
      inbox.handle('paid', () => undefined);
      return inbox.work({ signal: any(new AbortController()) });
    },
    /signal must be an AbortSignal.* It is an AbortController/,
    /which ends it gracefully/,
  ],
  [
    'drizzle() without sql',
    () => drizzle(any({ execute: () => undefined }), any(undefined)),
    /drizzle\(\): sql must be the sql of drizzle-orm.* It is undefined/,
    /import \{ sql \} from 'drizzle-orm'/,
  ],
  [
    'a transaction of another library',
    async ({ open }) => {
      const inbox = open();
      await inbox.ready();
      await inbox.expect(money('ORD-1'), { tx: any({ execute: () => undefined }) });
    },
    /tx is not an open transaction of the store's library.*an object of another kind/,
    /Pass the transaction that your library gives to its callback/,
  ],
  [
    'a label of the account in the inbox only',
    ({ open }) => open({ account: 'north' }).route.onCallback(paid('ORD-1', 500)),
    /The option account of createInbox\(\) and the option account of paymentCallbacks\(\)/,
    /Set both to the same label, or leave both out/,
  ],
  [
    'authorize() that returns true',
    async ({ open }) => {
      const page = inboxConsole(open(), { authorize: () => any(true) });
      await page(new Request('http://127.0.0.1/'));
    },
    /authorize\(\) must return \{ by, may \}/,
    /or undefined for a visitor without access/,
  ],
  [
    'a basePath with a slash at its end',
    ({ open }) => inboxConsole(open(), { authorize: () => false, basePath: '/admin/' }),
    /basePath must be a path without a slash at its end/,
    /such as '\/admin\/payments'/,
  ],
  [
    'a password as the key of encryption',
    () => aesGcm({ current: 'a', keys: { a: 'correct horse battery' } }),
    /The key a of aesGcm\(\) must be 32 random bytes/,
    /openssl rand -base64 32/,
  ],
  [
    'a schema whose name needs quotes',
    () => postgres(new pg.Pool(), { schema: 'My-Shop' }),
    /schema must be a plain lower-case name/,
    /such as payment_inbox/,
  ],
];

test.each(MISTAKES)('%s is named with its fix', async (_what, write, named, fix) => {
  const seen: unknown[] = [];
  for (const name of ['warn', 'error'] as const) {
    const printing = vi.spyOn(console, name).mockImplementation((...words) => void seen.push(...words));
    onTestFinished(() => printing.mockRestore());
  }
  const merchant = await newMerchant('postgres');
  const open: Desk['open'] = (options = {}) => merchant.open({ onError: undefined, ...options });
  const desk: Desk = {
    ...{ merchant, open, printed: () => seen.map(String).join('\n') },
    async apply(run) {
      const inbox = open();
      inbox.handle('paid', run);
      if ((await inbox.payment('ORD-1')) === undefined) await inbox.expect(money('ORD-1'));
      await inbox.route.onCallback(paid('ORD-1', 500));
      await workOff(inbox);
      return inbox;
    },
  };
  const result = await (async () => write(desk))().catch((error: unknown) => error);
  const text = [desk.printed(), String(result)].join('\n');
  expect(text).toMatch(named);
  expect(text).toMatch(fix);
});
