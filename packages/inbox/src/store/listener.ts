import type { PostgresClient } from './postgres.ts';

/** How long after a lost connection the next one is tried. */
const AGAIN_MS = 1000;

/** One connection that hears for all inboxes of a store which process they shall wake, through every outage. */
export class Listener {
  readonly #connect: () => Promise<PostgresClient>;
  readonly #listening = new Map<string, Set<(account: string) => void>>();
  #client: PostgresClient | undefined;
  #isConnecting = false;

  constructor(connect: () => Promise<PostgresClient>) {
    this.#connect = connect;
  }

  /** @returns the function that ends it; the last one gives the connection back. */
  add(channel: string, onWake: (account: string) => void): () => void {
    const onWakes = this.#listening.get(channel) ?? new Set();
    this.#listening.set(channel, onWakes.add(onWake));
    void this.#start();
    return () => {
      onWakes.delete(onWake);
      if (this.#isIdle) this.#end();
    };
  }

  get #isIdle(): boolean {
    return [...this.#listening.values()].every((onWakes) => onWakes.size === 0);
  }

  async #start(): Promise<void> {
    if (this.#isConnecting || this.#isIdle) return;
    this.#isConnecting = true;
    try {
      this.#client ??= await this.#open();
      for (const channel of this.#listening.keys()) await this.#client?.query(`listen "${channel}"`);
    } catch {
      // The poll finds what is due meanwhile.
      this.#lost();
    } finally {
      this.#isConnecting = false;
      if (this.#isIdle) this.#end();
    }
  }

  async #open(): Promise<PostgresClient> {
    const client = await this.#connect();
    client.on('error', this.#lost);
    client.on('notification', this.#hear);
    return client;
  }

  readonly #hear = (message: unknown): void => {
    const { channel, payload } = Object(message) as { channel?: unknown; payload?: unknown };
    for (const onWake of this.#listening.get(String(channel)) ?? []) onWake(String(payload ?? ''));
  };

  readonly #lost = (): void => {
    this.#end();
    setTimeout(() => void this.#start(), AGAIN_MS).unref();
  };

  #end(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.removeListener('notification', this.#hear);
    client?.removeListener('error', this.#lost);
    client?.release(true);
  }
}
