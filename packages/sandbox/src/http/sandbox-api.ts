import { type Context, Hono } from 'hono';
import { SandboxRefusal } from '../service/refusal.ts';
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
import { viewEvent } from '../service/timeline.ts';
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

/** What the specification only refers to, simulated under /sandbox and clearly apart from the contract. */
export function createSandboxApi(service: Service, account: SandboxAccount): Hono {
  const app = new Hono();
  const keys = requireKeys(account, ['public', 'secret']);
  const { store } = service;
  const started = (c: Context, transaction: TransactionRecord): StartedCollection =>
    viewStarted(transaction, service.redirectOf(transaction), new URL(c.req.url).origin);

  app.post('/collections', keys, async (c) =>
    succeed(c, started(c, service.collect(readCollection(await jsonBody(c)))), 201),
  );
  app.post('/payouts', keys, async (c) =>
    succeed(c, { transaction: viewTransaction(service.payout(readPayout(await jsonBody(c)))) }, 201),
  );
  app.get('/transfers', keys, (c) =>
    succeed(c, { transfers: newest(c, store.list('transfer')).map(viewTransfer) }),
  );
  app.post('/transfers', keys, async (c) =>
    succeed(c, { transfer: viewTransfer(service.transfer(readTransfer(await jsonBody(c)))) }, 201),
  );
  app.get('/transactions', keys, (c) => {
    const reference = c.req.query('merchant_reference');
    const status = c.req.query('transaction_status');
    const list = store
      .list('transaction')
      .filter((one) => reference === undefined || one.merchantReference === reference)
      .filter((one) => status === undefined || one.status === status);
    return succeed(c, { transactions: newest(c, list).map(viewTransaction) });
  });
  app.get('/transactions/:id{[0-9]+}', keys, (c) => succeed(c, started(c, service.transaction(idOf(c)))));
  app.post('/transactions/:id{[0-9]+}/outcome', keys, async (c) =>
    succeed(c, started(c, service.decide(idOf(c), readOutcome(await jsonBody(c)).outcome))),
  );
  app.get('/transactions/:id{[0-9]+}/timeline', keys, (c) =>
    succeed(c, { timeline: service.timeline(idOf(c)).map(viewEvent) }),
  );
  app.get('/deliveries', keys, (c) => {
    const id = c.req.query('transaction_id');
    const list = store
      .list('delivery')
      .filter(({ transactionId }) => id === undefined || String(transactionId) === id);
    return succeed(c, { deliveries: newest(c, list).map(service.view) });
  });
  app.post('/deliveries/release', keys, (c) => succeed(c, { released: service.release() }));
  app.post('/deliveries/:id{[0-9]+}/resend', keys, (c) =>
    succeed(c, { delivery: service.view(service.resend(idOf(c))) }, 201),
  );
  app.post('/deliveries/resend-failed', keys, async (c) => {
    const sent = service.resendFailed(readSince(await jsonBody(c)));
    return succeed(c, { deliveries: sent.map(service.view) }, 201);
  });
  for (const kind of ['transactions', 'deliveries']) {
    app.post(`/${kind}/:id{[0-9]+}/compose`, keys, async (c) => {
      const sent = service.compose(idOf(c), readComposition(await jsonBody(c)));
      return succeed(c, { deliveries: sent.map(service.view) }, 201);
    });
    app.post(`/${kind}/:id{[0-9]+}/preview`, keys, async (c) =>
      succeed(c, { preview: service.preview(idOf(c), readComposition(await jsonBody(c))) }),
    );
  }
  app.post('/check', keys, async (c) =>
    succeed(c, { check: await service.check(readCheck(await jsonBody(c)).callback_url) }),
  );
  app.get('/requests', keys, (c) =>
    succeed(c, { requests: newest(c, store.list('request')).map(viewRequest) }),
  );
  app.get('/entries', keys, (c) =>
    succeed(c, { entries: newest(c, service.entries(c.req.query('currency'))).map(viewEntry) }),
  );
  app.post('/deposits', keys, async (c) => {
    service.deposit(readTransfer(await jsonBody(c)));
    return succeed(c, { merchant_wallets: service.wallets() }, 201);
  });
  app.get('/providers', keys, (c) => succeed(c, { providers: service.providers() }));
  app.put('/providers', keys, async (c) =>
    succeed(c, { provider: service.changeProvider(readProviderChange(await jsonBody(c))) }),
  );
  app.put('/banks', keys, async (c) =>
    succeed(c, { bank: service.changeBank(readBankChange(await jsonBody(c))) }),
  );
  app.post('/clearing', keys, async (c) => {
    const released = service.clear(readClearing(await jsonBody(c)));
    return succeed(c, { released, merchant_wallets: service.wallets() });
  });
  const clock = (c: Context): Response => {
    const now = new Date(service.now()).toISOString();
    return succeed(c, { now, advanced_seconds: service.settings().clockOffset / 1000 });
  };
  app.get('/clock', keys, clock);
  app.post('/clock', keys, async (c) => {
    service.advance(readClock(await jsonBody(c)).advance_seconds);
    return clock(c);
  });
  const settings = (c: Context): Response => {
    const { clockOffset: _, ...shown } = service.settings();
    return succeed(c, shown);
  };
  app.get('/settings', keys, settings);
  app.put('/settings', keys, async (c) => {
    service.change(readSettings(await jsonBody(c)));
    return settings(c);
  });
  app.post('/reset', keys, (c) => {
    service.reset();
    return succeed(c, {});
  });

  const methods = new Map<string, string[]>();
  for (const { path, method } of app.routes) {
    if (!methods.get(path)?.includes(method)) methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  for (const [path, allowed] of methods) app.all(path, onlyMethods(...allowed));
  return app;
}
