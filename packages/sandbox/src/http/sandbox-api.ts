import { type Context, Hono } from 'hono';
import { entriesOf } from '../service/ledger.ts';
import {
  readBankChange,
  readCheck,
  readClearing,
  readClock,
  readCollection,
  readComposition,
  readOutcome,
  readPayout,
  readProviderChange,
  readSettings,
  readSince,
  readTransfer,
} from '../service/requests.ts';
import type { Service } from '../service/service.ts';
import { statementOf } from '../service/statement.ts';
import { timelineOf, viewEvent } from '../service/timeline.ts';
import {
  type StartedCollection,
  viewEntry,
  viewRequest,
  viewStarted,
  viewTransaction,
  viewTransfer,
} from '../service/views.ts';
import type { SandboxAccount } from '../state/account.ts';
import type { TransactionRecord } from '../state/records.ts';
import { SandboxRefusal } from '../state/refusal.ts';
import { jsonBody } from './body.ts';
import { onlyMethods } from './contract-api.ts';
import { succeed } from './envelope.ts';
import { requireKeys } from './guards.ts';

const MAX_LISTED = 1000;
const LISTED = 100;

const idOf = (c: Context): number => Number(c.req.param('id'));

/** The newest first: 100 of them, or as many as `limit` says, at most 1000. */
function newest<T>(c: Context, list: readonly T[]): T[] {
  const limit = Number(c.req.query('limit') ?? LISTED);
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_LISTED)) {
    const message = `limit: must be a whole number from 1 to ${MAX_LISTED}`;
    throw new SandboxRefusal(400, 'malformed_request', message, 'limit');
  }
  return list.slice(-limit).reverse();
}

/** As a file, for the command that reads it and for a browser. */
export function sendStatement(c: Context, { store }: Pick<Service, 'store'>): Response {
  c.header('content-disposition', 'attachment; filename="statement.csv"');
  c.header('content-type', 'text/csv; charset=utf-8');
  return c.body(statementOf(store.list('transaction')));
}

/** What the specification only refers to, simulated under /sandbox and clearly apart from the contract. */
export function createSandboxApi(service: Service, account: SandboxAccount): Hono {
  const app = new Hono();
  const keys = requireKeys(account, ['public', 'secret']);
  const { store } = service;
  type Answer = (c: Context) => object | Promise<object>;
  const get = (path: string, answer: Answer) => app.get(path, keys, async (c) => succeed(c, await answer(c)));
  const put = (path: string, answer: Answer) => app.put(path, keys, async (c) => succeed(c, await answer(c)));
  const post = (path: string, status: 200 | 201, answer: Answer) =>
    app.post(path, keys, async (c) => succeed(c, await answer(c), status));
  const started = (c: Context, transaction: TransactionRecord): StartedCollection =>
    viewStarted(transaction, service.redirectOf(transaction), new URL(c.req.url).origin);
  const clock = () => ({
    now: new Date(service.now()).toISOString(),
    advanced_seconds: service.settings().clockOffset / 1000,
  });
  const settings = () => {
    const { clockOffset: _, ...shown } = service.settings();
    return shown;
  };

  post('/collections', 201, async (c) => started(c, service.collect(readCollection(await jsonBody(c)))));
  post('/payouts', 201, async (c) => ({
    transaction: viewTransaction(service.payout(readPayout(await jsonBody(c)))),
  }));
  get('/transfers', (c) => ({ transfers: newest(c, store.list('transfer')).map(viewTransfer) }));
  post('/transfers', 201, async (c) => ({
    transfer: viewTransfer(service.transfer(readTransfer(await jsonBody(c)))),
  }));
  get('/transactions', (c) => {
    const { merchant_reference: reference, transaction_status: status } = c.req.query();
    const list = store
      .list('transaction')
      .filter((one) => reference === undefined || one.merchantReference === reference)
      .filter((one) => status === undefined || one.status === status);
    return { transactions: newest(c, list).map(viewTransaction) };
  });
  app.get('/statement', keys, (c) => sendStatement(c, service));
  get('/transactions/:id{[0-9]+}', (c) => started(c, service.transaction(idOf(c))));
  post('/transactions/:id{[0-9]+}/outcome', 200, async (c) =>
    started(c, service.decide(idOf(c), readOutcome(await jsonBody(c)).outcome)),
  );
  get('/transactions/:id{[0-9]+}/timeline', (c) => ({
    timeline: timelineOf(store, service.transaction(idOf(c))).map(viewEvent),
  }));
  get('/deliveries', (c) => {
    const id = c.req.query('transaction_id');
    const list = store
      .list('delivery')
      .filter(({ transactionId }) => id === undefined || String(transactionId) === id);
    return { deliveries: newest(c, list).map(service.view) };
  });
  post('/deliveries/release', 200, () => ({ released: service.release() }));
  post('/deliveries/:id{[0-9]+}/resend', 201, (c) => ({
    delivery: service.view(service.resend(idOf(c))),
  }));
  post('/deliveries/resend-failed', 201, async (c) => ({
    deliveries: service.resendFailed(readSince(await jsonBody(c))).map(service.view),
  }));
  for (const kind of ['transactions', 'deliveries']) {
    post(`/${kind}/:id{[0-9]+}/compose`, 201, async (c) => ({
      deliveries: service.compose(idOf(c), readComposition(await jsonBody(c))).map(service.view),
    }));
    post(`/${kind}/:id{[0-9]+}/preview`, 200, async (c) => ({
      preview: service.preview(idOf(c), readComposition(await jsonBody(c))),
    }));
  }
  post('/check', 200, async (c) => ({
    check: await service.check(readCheck(await jsonBody(c)).callback_url),
  }));
  get('/requests', (c) => ({ requests: newest(c, store.list('request')).map(viewRequest) }));
  get('/entries', (c) => ({
    entries: newest(c, entriesOf(store, c.req.query('currency'))).map(viewEntry),
  }));
  post('/deposits', 201, async (c) => {
    service.deposit(readTransfer(await jsonBody(c)));
    return { merchant_wallets: service.wallets() };
  });
  get('/providers', () => ({ providers: service.providers() }));
  put('/providers', async (c) => ({
    provider: service.changeProvider(readProviderChange(await jsonBody(c))),
  }));
  put('/banks', async (c) => ({ bank: service.changeBank(readBankChange(await jsonBody(c))) }));
  post('/clearing', 200, async (c) => {
    const released = service.clear(readClearing(await jsonBody(c)));
    return { released, merchant_wallets: service.wallets() };
  });
  get('/clock', clock);
  post('/clock', 200, async (c) => {
    service.advance(readClock(await jsonBody(c)).advance_seconds);
    return clock();
  });
  get('/settings', settings);
  put('/settings', async (c) => {
    service.change(readSettings(await jsonBody(c)));
    return settings();
  });
  post('/reset', 200, () => {
    service.reset();
    return {};
  });

  const methods = new Map<string, string[]>();
  for (const { path, method } of app.routes) {
    if (!methods.get(path)?.includes(method)) methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  for (const [path, allowed] of methods) app.all(path, onlyMethods(...allowed));
  return app;
}
