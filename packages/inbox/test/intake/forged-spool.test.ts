/** The spool is a file: what lies there was not necessarily written by the inbox (threat A66). */
import { join } from 'node:path';
import { createVerifier, type VerifiedCallback, type VerifierOptions } from '@payment-service/core';
import { createCallbackReceiver } from '@payment-service/core/receive';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { expect, test } from 'vitest';
import { aesGcm, createInbox, type InboxEvent, type InboxOptions, sqlite } from '../../src/index.ts';
import { evidenceRecord, spoolText } from '../../src/intake/verified-record.ts';
import { evidence, paid, post, SIGNING_KEY, signatureOf, signedText } from '../support/callbacks.ts';
import { runDoctor } from '../support/doctor.ts';
import { money } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { askFile, checkOf, newPath, recordOf, rowsIn, spoolOf, TestSpool } from '../support/test-spool.ts';
import { until, workOff } from '../support/until.ts';

type Options = Partial<InboxOptions<never>>;

/** A merchant whose database another connection can lock, so that callbacks go to the spool. */
class Shop {
  readonly file = join(temporaryFolder(), 'shop.db');
  readonly spool = `${this.file}-spool`;
  readonly credited: string[] = [];
  readonly events: InboxEvent['name'][] = [];
  readonly problems: string[] = [];

  /** A new process of the same program. */
  start({ ...options }: Options = {}) {
    const inbox = createInbox({
      random: () => 0,
      ...options,
      store: sqlite(this.file),
      onEvent: ({ name }) => this.events.push(name),
      onError: (_error, { kind }) => this.problems.push(kind),
    });
    inbox.handle(
      'paid',
      async ({ signed, payment: { settled } }) => {
        this.credited.push(`${signed.merchant_reference} ${settled.amount}`);
      },
      { changesNothing: true },
    );
    return inbox;
  }

  /** Leaves ORD-1 in the spool, and expects it and ORD-2. */
  async leave(options: Options): Promise<void> {
    const inbox = this.start(options);
    await inbox.expect(money('ORD-1'));
    await inbox.expect(money('ORD-2'));
    await inbox.close();
    const refuse = () => Promise.reject(new Error('The store is unavailable.'));
    const away = createInbox({
      ...options,
      store: { ...sqlite(this.file), query: refuse, transaction: refuse },
      onError: () => undefined,
    });
    await away.route.onCallback(paid('ORD-1', 500));
    await away.close();
  }
}

/** The attack: the same delivery for another order, before it. No key is needed. */
function forge(path: string): string {
  const [{ text = '' } = {}] = rowsIn(path);
  const forged = text.replaceAll('ORD-1', 'ORD-2');
  const copy = 'insert into delivery select 0, ?, owner, transition_id, kept_at, 0, ? from delivery';
  askFile(path, copy, 'x', forged);
  return forged;
}

const direct = (inbox: ReturnType<Shop['start']>, options: Partial<VerifierOptions> = {}) =>
  createCallbackReceiver({ signingKey: SIGNING_KEY, ...options, ...inbox.route });

const SEALED = { encryption: aesGcm({ current: 'k1', keys: { k1: Buffer.alloc(32, 1) } }) };

/** What is kept of a body. */
const KEPT: readonly Options[] = [{}, { bodies: 'claims' }, SEALED, { bodies: 'claims', ...SEALED }];

test('threat A66: after a restart, the genuine delivery is applied, and a copy of it for another order settles nothing', async () => {
  const attack = async (options: Options): Promise<Shop> => {
    const shop = new Shop();
    await shop.leave(options);
    const forged = forge(shop.spool);
    const inbox = shop.start(options);
    direct(inbox);
    await inbox.ready();
    await until(() => shop.events.includes('spool.refused') && shop.events.includes('spool.drained'));
    await workOff(inbox);
    expect(shop.credited).toEqual(['ORD-1 500']);
    expect(await inbox.reports({ merchant_reference: 'ORD-2' })).toEqual([]);
    // As evidence, which health() counts until it is removed.
    expect(rowsIn(shop.spool)).toEqual([{ text: forged, isRefused: true }]);
    expect((await inbox.health()).problems).toEqual(['spool_not_drained']);
    await inbox.close();
    expect(shop.problems).toContain('spool_refused');
    return shop;
  };
  const [shop] = await Promise.all(KEPT.map(attack));
  const found = await runDoctor(['--database', shop?.file ?? '']);
  expect(found.names).toEqual(['problem spool']);
  expect(found.text).toContain('1 callbacks in');
});

test('threat A66: deliveries wait for a route, and a route that wraps receive() gives its keys with its first callback', async () => {
  const shop = new Shop();
  await shop.leave({});
  const inbox = shop.start();
  const wrapped = createCallbackReceiver({
    signingKey: SIGNING_KEY,
    onCallback: (callback) => inbox.route.onCallback(callback),
  });
  await inbox.ready();
  await until(() => shop.problems.includes('spool_waits'));
  expect(rowsIn(shop.spool)).toHaveLength(1);
  expect(await inbox.health()).toMatchObject({ problems: ['spool_not_drained'], spooled: 1 });
  expect(await post(wrapped, signedText({ merchant_reference: 'ORD-3' }))).toBe(200);
  await until(() => shop.events.includes('spool.drained'));
  await workOff(inbox);
  expect([shop.credited, rowsIn(shop.spool)]).toEqual([['ORD-1 500'], []]);
  expect(shop.problems.filter((kind) => kind === 'spool_waits')).toHaveLength(1);
  await inbox.close();
});

test('threat A66: a route that passes only quarantine() gives its keys too', async () => {
  const shop = new Shop();
  await shop.leave({});
  const inbox = shop.start();
  createCallbackReceiver({ signingKey: SIGNING_KEY, onAuthenticRefusal: inbox.route.onAuthenticRefusal });
  await inbox.ready();
  await until(() => rowsIn(shop.spool).length === 0);
  await inbox.close();
});

const OTHER_KEY = 'ANOTHERKEYOFTHEINBOX';

/** A callback as a route with these options verifies it. */
function verified(reference: string, options: VerifierOptions, key: string = SIGNING_KEY): VerifiedCallback {
  const data = sampleCallback({ payload: { merchant_reference: reference, internal_reference: 'I' } });
  const signature = signCallback({ signingKey: key, data });
  const result = createVerifier(options).verifyCallback({ signature, body: JSON.stringify(data) });
  if (!result.ok) throw new Error(`The test's callback was refused: ${result.code}`);
  return result;
}

/** The spool of the next process, with the checks of its routes. */
function restart(path: string, ...routes: readonly VerifiedCallback[]): TestSpool {
  const next = new TestSpool(path);
  next.isThere = true;
  next.spool.start();
  for (const route of routes) next.spool.trust(checkOf(route));
  return next;
}

const keys = (notAfter?: Date) => ({
  signingKey: [
    { id: 'old', key: OTHER_KEY, notAfter },
    { id: 'new', key: SIGNING_KEY },
  ],
});

test('threat A66: a delivery under a key past its notAfter is refused, and is stored after a restart with a later notAfter', async () => {
  const ended = new TestSpool();
  const rotating = keys(new Date(Date.now() + 60_000));
  await ended.keepCallback(verified('OLD', rotating, OTHER_KEY));
  await ended.keepCallback(verified('NEW', rotating));
  await ended.spool.close();
  const next = restart(ended.path, verified('X', keys(new Date(0))));
  await until(() => next.countOf('spool.drained') > 0 && next.countOf('spool.refused') > 0);
  await next.spool.close();
  expect([next.references(), rowsIn(ended.path).length]).toEqual([['NEW'], 1]);
  const last = restart(ended.path, verified('X', rotating));
  await until(() => last.isEmpty());
  expect(last.taken.map(({ keyId }) => keyId)).toEqual(['old']);
});

test('threat A66: of two routes with other keys, each verifies its own deliveries, and a key of another account verifies none', async () => {
  const ended = new TestSpool();
  await ended.keepCallback(verified('A', { signingKey: SIGNING_KEY }));
  await ended.keepCallback(verified('B', { signingKey: OTHER_KEY }, OTHER_KEY));
  await ended.spool.close();
  const north = verified('X', { signingKey: OTHER_KEY, account: 'north' }, OTHER_KEY);
  const next = restart(ended.path, verified('X', { signingKey: SIGNING_KEY }), north);
  await until(() => next.countOf('spool.refused') > 0 && next.references().length > 0);
  expect(next.references()).toEqual(['A']);
  await next.spool.close();
  const both = restart(ended.path, north, verified('X', { signingKey: OTHER_KEY }, OTHER_KEY));
  await until(() => both.isEmpty());
  expect(both.references()).toEqual(['B']);
});

test('threat A66: no delivery is stored without its signature, or with a body that shows other signed fields', async () => {
  const genuine = spoolText(recordOf('A'), signatureOf(paid('A', 500)));
  const change = (members: object): string => JSON.stringify({ ...JSON.parse(genuine), ...members });
  const [content, signed] = [recordOf('B').content ?? '', JSON.parse(recordOf('A').signed)];
  const forged = [
    JSON.stringify({ ...recordOf('A'), isAcknowledged: true }), // Of an earlier build.
    change({ signature: '' }),
    change({ signature: `t=1,s=${'0'.repeat(64)}` }),
    change({ content }),
    change({ content: JSON.stringify({ event: signed.event, payload: { merchant_reference: 'B' } }) }),
    // A lone surrogate is signed like U+FFFD (threat A8).
    change({ signed: JSON.stringify({ ...signed, merchant_reference: '\ud800' }) }),
  ];
  const next = restart(await spoolOf(genuine, ...forged), paid('X', 1));
  await until(() => next.countOf('spool.refused') === forged.length && next.taken.length > 0);
  expect(next.references()).toEqual(['A']);
  expect(rowsIn(next.path)).toEqual(forged.map((text) => ({ text, isRefused: true })));
});

test('threat A66: members that follow from the signature are not read from the spool', async () => {
  const genuine = JSON.parse(spoolText(recordOf('A'), signatureOf(paid('A', 500))));
  const other = recordOf('B');
  const { signed: _, content: _content, claims: _claims, refusal: _refusal, ...keysOfOther } = other;
  const next = restart(
    await spoolOf(JSON.stringify({ ...genuine, ...keysOfOther, keyId: 'x' })),
    paid('X', 1),
  );
  await until(() => next.taken.length > 0);
  expect(next.taken[0]).toEqual({ ...recordOf('A'), isAcknowledged: true });
});

test("threat A66: evidence that a ':' rule refused stays evidence when its refusal is removed by hand", async () => {
  const refused = evidence('ambiguous');
  const record = evidenceRecord(refused, '');
  const text = spoolText({ ...record, refusal: null }, signatureOf(refused.evidence));
  const next = restart(await spoolOf(text), paid('X', 1));
  await until(() => next.taken.length > 0);
  expect(next.taken[0]).toEqual({ ...record, isAcknowledged: true });
});

test('threat A66: evidence is stored as evidence, and a parsed body is verified like its text', async () => {
  const refused = evidence('timestamp_out_of_tolerance');
  const record = evidenceRecord(refused, '');
  const data = sampleCallback({ payload: { merchant_reference: 'P' } });
  const signature = signCallback({ signingKey: SIGNING_KEY, data });
  const parsed = createVerifier({ signingKey: SIGNING_KEY }).verifyCallback({ signature, body: data });
  if (!parsed.ok) throw new Error('The test wanted a callback.');
  const ended = new TestSpool();
  await ended.keepCallback(parsed);
  await ended.spool.keep(record, signatureOf(refused.evidence), 'ECONNREFUSED');
  await ended.spool.close();
  const next = restart(ended.path, paid('X', 1));
  await until(() => next.isEmpty());
  expect(next.taken.map(({ refusal }) => refusal)).toEqual([null, 'timestamp_out_of_tolerance']);
  expect(next.taken[1]).toEqual({ ...record, isAcknowledged: true });
});

test('a delivery that a copy of core without proofs has verified is not kept in the spool', async () => {
  const one = new TestSpool(newPath());
  expect(await one.spool.keep(recordOf('A'), undefined, 'ECONNREFUSED')).toBe(false);
  expect(rowsIn(one.path)).toEqual([]);
});
