import { type Context, type Handler, Hono, type MiddlewareHandler } from 'hono';
import type { Service } from '../service/service.ts';
import { findProvider } from '../service/simulated-providers.ts';
import { fail, onlyMethods, succeed } from './envelope.ts';
import { requireKeys } from './guards.ts';

/**
 * x-api-version is sent with value 1 on every request shown. 400 for another value is our choice; the header may be missing.
 */
const versionOne: MiddlewareHandler = async (c, next) => {
  const version = c.req.header('x-api-version') ?? '1';
  return version === '1' ? next() : fail(c, 400, 'x-api-version must be 1');
};

/** A repeated filter is ambiguous: 400 is our choice. An empty one counts as missing. */
const filterOf = (c: Context, name: string): string | undefined => c.req.query(name) || undefined;

const onceEach =
  (names: readonly string[]): MiddlewareHandler =>
  async (c, next) => {
    const repeated = names.find((name) => (c.req.queries(name)?.length ?? 0) > 1);
    return repeated === undefined ? next() : fail(c, 400, `${repeated} must be given once`);
  };

/** The three endpoints of the contract (protocol §4). */
export function createContractApi(service: Service): Hono {
  const app = new Hono();
  const publicOnly = requireKeys(service, ['public']);
  const bothKeys = requireKeys(service, ['public', 'secret']);
  const get = (path: string, keys: MiddlewareHandler, filters: string[], answer: Handler): void => {
    app.get(path, keys, versionOne, onceEach(filters), answer);
    app.all(path, onlyMethods('GET', 'HEAD'));
  };

  get('/payment-providers', publicOnly, ['currency', 'transaction_type'], (c) => {
    const currency = filterOf(c, 'currency');
    const type = filterOf(c, 'transaction_type');
    const options = service.store.list('provider').map(({ option }) => option);
    return succeed(c, {
      payment_providers: options.filter(
        (option) =>
          (currency === undefined || option.transaction_currency === currency) &&
          // The filter is upper case (COLLECTION) where the list has mixed case (Collection): protocol §2.2.
          (type === undefined || option.transaction_type.toUpperCase() === type),
      ),
    });
  });
  get('/payout-bank-codes', publicOnly, ['provider_code'], (c) => {
    const code = filterOf(c, 'provider_code');
    if (code === undefined) return fail(c, 400, 'provider_code is required');
    // Banks belong to payouts. For an unknown code the list is empty: our choice, not shown.
    return succeed(c, {
      payout_banks: findProvider(service.store.list('provider'), code, 'PAYOUT')?.banks ?? [],
    });
  });
  get('/wallet-balances', bothKeys, ['currency'], (c) =>
    succeed(c, { merchant_wallets: service.wallets(filterOf(c, 'currency')) }),
  );
  return app;
}
