/** Payments that are reported one by one while a backlog is settled. */
export interface Beside {
  readonly count: number;
  readonly everyMs: number;
  /** From the first one on: those without an effect by then are no longer waited for. */
  readonly withinMs: number;
  /** Receives how long each took until its effect, in milliseconds, or had waited in the end. */
  readonly effects: number[];
}

export interface Sending {
  /** @returns whether the payment is one of these, and its effect is counted now. */
  has(id: string): boolean;
  /** Resolves when each has its effect, or the time is over. */
  readonly over: Promise<void>;
  /** After the worker has stopped: counts those that still wait. */
  end(): void;
}

/** Sends payments with the given ids; `send` receives the index of one. */
export function sendBeside(
  { count, everyMs, withinMs, effects }: Beside,
  ids: readonly string[],
  send: (index: number) => Promise<unknown>,
): Sending {
  const sent = new Map<string, number>();
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  let next = 0;
  const sending = setInterval(() => {
    const index = next++;
    const id = ids[index];
    if (id === undefined) return clearInterval(sending);
    sent.set(id, performance.now());
    send(index).catch(reject);
  }, everyMs);
  const limit = setTimeout(resolve, withinMs);
  const record = (id: string, sentAt: number): void => {
    sent.delete(id);
    effects.push(performance.now() - sentAt);
  };
  return {
    over,
    has(id) {
      const sentAt = sent.get(id);
      if (sentAt === undefined) return false;
      record(id, sentAt);
      if (effects.length === count) resolve();
      return true;
    },
    end() {
      clearInterval(sending);
      clearTimeout(limit);
      for (const [id, sentAt] of sent) record(id, sentAt);
    },
  };
}
