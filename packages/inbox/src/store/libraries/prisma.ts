import { checkArgument, RECORD } from '@payment-service/core/internal';
import type { Store } from '../store.ts';
import { type Body, type LibraryOptions, libraryStore } from './library.ts';

export type { LibraryOptions } from './library.ts';

type Raw = { $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown> };
type Client<Tx> = Raw & { $transaction(body: Body<Tx>, options: object): Promise<unknown> };
type Limits = { readonly timeout?: number | undefined; readonly maxWait?: number | undefined };

/**
 * The store over Prisma, on PostgreSQL. A handler gets the `Prisma.TransactionClient` in whose transaction it runs.
 *
 * @param client Your client. The inbox runs in its transactions.
 * @param options How long Prisma waits.
 * @param options.timeout How long Prisma lets a transaction run, in milliseconds. It must be longer than `handlerTimeoutMs`.
 * @default 3660000, an hour and a minute
 * @param options.maxWait How long Prisma waits for a connection, in milliseconds. @default Prisma's own, 2000
 * @throws {ConfigurationError} If the schema's name would need quotes, or `listen` is not a pool of at least three connections.
 *
 * @example
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * const client = new PrismaClient({ adapter: new PrismaPg(pool) });
 * const inbox = createInbox({ store: prisma(client, { listen: pool }) });
 * inbox.handle('paid', async ({ tx, signed, payment: { settled } }) => {
 *   await tx.order.update({ where: { reference: signed.merchant_reference }, data: { paid: settled.amount } });
 * });
 */
export function prisma<Tx extends Raw>(client: Client<Tx>, options: LibraryOptions & Limits = {}): Store<Tx> {
  checkArgument('prisma()', 'options', options, RECORD);
  const { timeout = 3_660_000, maxWait, ...rest } = options;
  const nestings = new WeakMap<object, Nesting>();
  const store = libraryStore<Tx>({ call: 'prisma()', client, has: '$queryRawUnsafe' }, rest, {
    run: (text, values, tx) => (tx ?? client).$queryRawUnsafe(text, ...values),
    isNesting: (tx) => (nestings.get(tx)?.open ?? 0) > 0,
    open: (body, isMerchants) => {
      const nesting = { open: 0 };
      const counted: Body<Tx> = (given) => {
        const tx = counting(given, nesting);
        nestings.set(tx, nesting);
        return body(tx);
      };
      const isolationLevel = isMerchants ? undefined : 'ReadCommitted';
      return client.$transaction(counted, { timeout, maxWait, isolationLevel });
    },
  });
  return Object.freeze({ ...store, maxTransactionMs: timeout });
}

/** How many nested transactions have not ended. */
interface Nesting {
  open: number;
}

/** Prisma commits a transaction that has failed if a nested one ends later, so the store counts them. */
function counting<Tx extends object>(tx: Tx, nesting: Nesting): Tx {
  return new Proxy(tx, {
    get(own, name) {
      const value: unknown = Reflect.get(own, name, own);
      if (name !== '$transaction' || !(value instanceof Function)) return value;
      return async (body: unknown, ...rest: unknown[]): Promise<unknown> => {
        const inner = body instanceof Function ? (nested: object) => body(counting(nested, nesting)) : body;
        nesting.open += 1;
        try {
          return await Reflect.apply(value, own, [inner, ...rest]);
        } finally {
          nesting.open -= 1;
        }
      };
    },
  });
}
