import type { Order } from './order.ts';

/** A verified callback that names no order of ours. Kept for the owner; pays nothing. */
export interface Stray {
  readonly reference: string;
  readonly status: string;
  readonly transitionId: string;
  readonly at: number;
}

/**
 * Where orders live: the one place to replace when they move into a database, or when the durable inbox takes over
 * receiving. What an implementation must keep: `change` is atomic, and what it answers is stored.
 */
export interface OrderStore {
  add(order: Order): Promise<void>;
  find(reference: string): Promise<Order | undefined>;
  /** Newest first. */
  list(): Promise<readonly Order[]>;
  /** Replaces an order by what `change` makes of it; undefined when there is no such order. */
  change(reference: string, change: (order: Order) => Order): Promise<Order | undefined>;
  addStray(stray: Stray): Promise<void>;
  /** Newest first. */
  strays(): Promise<readonly Stray[]>;
}

const MOST_STRAYS = 50;

/** In memory: a restart forgets every order, and a callback that comes after it finds none. */
export function createOrderStore(): OrderStore {
  const orders = new Map<string, Order>();
  const strays = new Map<string, Stray>();
  return {
    async add(order) {
      if (orders.has(order.reference)) throw new Error('There is an order with this reference already.');
      orders.set(order.reference, order);
    },
    find: async (reference) => orders.get(reference),
    list: async () => [...orders.values()].reverse(),
    // Synchronous from the reading to the writing, and therefore atomic.
    async change(reference, change) {
      const order = orders.get(reference);
      if (order === undefined) return undefined;
      const changed = change(order);
      orders.set(reference, changed);
      return changed;
    },
    async addStray(stray) {
      if (strays.size < MOST_STRAYS) strays.set(stray.transitionId, stray);
    },
    strays: async () => [...strays.values()].reverse(),
  };
}
