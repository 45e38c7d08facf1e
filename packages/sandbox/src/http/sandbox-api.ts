import { type Context, Hono } from 'hono';
import { entriesOf } from '../service/ledger.ts';
import { read } from '../service/request-schemas.ts';
import type { Service } from '../service/service.ts';
import {
  type StartedCollection,
  stamped,
  statementOf,
  timelineOf,
  viewEntry,
  viewStarted,
  viewTransaction,
  viewTransfer,
} from '../service/views.ts';
import type { TransactionRecord } from '../state/records.ts';
import { refuse } from '../state/refusal.ts';
import { jsonBody, onlyMethods, succeed } from './envelope.ts';
import { requireKeys } from './guards.ts';

const MAX_LISTED = 1000;
const LISTED = 100;

const idOf = (c: Context): number => Number(c.req.param('id'));

/** Newest first: 100 of them, or `limit`, at most 1000. */
function newest<T>(c: Context, list: readonly T[]): T[] {
  const limit = Number(c.req.query('limit') ?? LISTED);
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_LISTED)) {
    const message = `limit: must be a whole number from 1 to ${MAX_LISTED}`;
    refuse('malformed_request', message, 'limit');
  }
  return list.slice(-limit).reverse();
}

/** As a file, for the command that reads it and for browsers. */
export function sendStatement(c: Context, { store }: Pick<Service, 'store'>): Response {
  c.header('content-disposition', 'attachment; filename="statement.csv"');
  c.header('content-type', 'text/csv; charset=utf-8');
  return c.body(statementOf(store.list('transaction')));
}

/** What the specification only mentions, simulated under /sandbox, clearly apart from the contract. */
export function createSandboxApi(service: Service): Hono {
  const { store } = service;
  const started = (c: Context, transaction: TransactionRecord): StartedCollection =>
    viewStarted(service, transaction, new URL(c.req.url).origin);
  const clock = () => ({
    now: new Date(service.clock.now()).toISOString(),
    advanced_seconds: service.settings().clockOffset / 1000,
  });
  const settings = () => {
    const { clockOffset: _, ...shown } = service.settings();
    return shown;
  };
  /** Whether the query names this value, or none. */
  const isAsked = (c: Context, name: string, value: unknown): boolean =>
    (c.req.query(name) ?? String(value)) === String(value);
  const compose = (c: Context, body: unknown) => ({
    deliveries: service.compose(idOf(c), body).map(service.view),
  });
  const preview = (c: Context, body: unknown) => ({ preview: service.preview(idOf(c), body) });

  /** Method, path, and the status if it is not 200. A handler with a parameter for the body gets the parsed JSON. */
  const routes: Readonly<Record<string, (c: Context, body: unknown) => object | Promise<object>>> = {
    'POST /collections 201': (c, body) => started(c, service.collect(body)),
    'POST /payouts 201': (_, body) => ({ transaction: viewTransaction(service.payout(body)) }),
    'GET /transfers': (c) => ({ transfers: newest(c, store.list('transfer')).map(viewTransfer) }),
    'POST /transfers 201': (_, body) => ({ transfer: viewTransfer(service.transfer(body)) }),
    'GET /transactions': (c) => {
      const found = store
        .list('transaction')
        .filter((one) => isAsked(c, 'merchant_reference', one.merchantReference))
        .filter((one) => isAsked(c, 'transaction_status', one.status));
      return { transactions: newest(c, found).map(viewTransaction) };
    },
    'GET /statement': (c) => sendStatement(c, service),
    'GET /transactions/:id{[0-9]+}': (c) => started(c, service.transaction(idOf(c))),
    'POST /transactions/:id{[0-9]+}/outcome': (c, body) => started(c, service.decide(idOf(c), body)),
    'GET /transactions/:id{[0-9]+}/timeline': (c) => ({
      timeline: timelineOf(store, service.transaction(idOf(c))).map(stamped),
    }),
    'GET /deliveries': (c) => {
      const found = store.list('delivery').filter((one) => isAsked(c, 'transaction_id', one.transactionId));
      return { deliveries: newest(c, found).map(service.view) };
    },
    'POST /deliveries/release': () => ({ released: service.release() }),
    'POST /deliveries/:id{[0-9]+}/resend 201': (c) => ({ delivery: service.view(service.resend(idOf(c))) }),
    'POST /deliveries/resend-failed 201': (_, body) => ({
      deliveries: service.resendFailed(body).map(service.view),
    }),
    'POST /transactions/:id{[0-9]+}/compose 201': compose,
    'POST /deliveries/:id{[0-9]+}/compose 201': compose,
    'POST /transactions/:id{[0-9]+}/preview': preview,
    'POST /deliveries/:id{[0-9]+}/preview': preview,
    'POST /check': async (_, body) => ({ check: await service.check(body) }),
    'GET /requests': (c) => ({ requests: newest(c, store.list('request')).map(stamped) }),
    'GET /entries': (c) => ({
      entries: newest(c, entriesOf(store, c.req.query('currency'))).map(viewEntry),
    }),
    'POST /deposits 201': (_, body) => {
      service.deposit(body);
      return { merchant_wallets: service.wallets() };
    },
    'GET /providers': () => ({ providers: store.list('provider') }),
    'PUT /providers': (_, body) => ({ provider: service.changeProvider(body) }),
    'PUT /banks': (_, body) => ({ bank: service.changeBank(body) }),
    'GET /clock': clock,
    'POST /clock': (_, body) => {
      service.advance(body);
      return clock();
    },
    'GET /settings': settings,
    'PUT /settings': (_, body) => {
      service.change(read('settings', body));
      return settings();
    },
    'POST /reset': () => {
      service.reset();
      return {};
    },
  };

  const app = new Hono();
  const keys = requireKeys(service, ['public', 'secret']);
  const methods = new Map<string, string[]>();
  for (const [route, answer] of Object.entries(routes)) {
    const [method = '', path = '', created] = route.split(' ');
    methods.set(path, [...(methods.get(path) ?? []), method]);
    app.on(method, path, keys, async (c) => {
      const data = await answer(c, answer.length > 1 ? await jsonBody(c) : undefined);
      return data instanceof Response ? data : succeed(c, data, created === undefined ? 200 : 201);
    });
  }
  for (const [path, allowed] of methods) app.all(path, onlyMethods(...allowed));
  return app;
}
