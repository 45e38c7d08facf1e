import type { ClientWithSecretKey } from '@payment-service/core/client';
import type { Books } from './books/books.ts';
import type { Product } from './books/order.ts';
import type { Log } from './web/page.ts';
import type { OwnAddresses } from './web/route.ts';

/** What the routes of the shop need. */
export interface Context extends Pick<Books, 'inbox' | 'orders'>, OwnAddresses {
  readonly client: ClientWithSecretKey;
  /** The address of the payment service. */
  readonly baseUrl: string;
  readonly catalogue: readonly Product[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Log;
}
