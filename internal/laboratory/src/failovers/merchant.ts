import { join } from 'node:path';
import { Child } from '../measure/child.ts';
import type { MerchantReady, MerchantSettings } from './merchant-process.ts';

/** The merchant's programs: receivers and workers, two of each. */
export class Merchant {
  readonly #children: readonly Child[];
  /** Of the receivers. */
  readonly addresses: readonly string[];
  /** Codes of the warnings that the inboxes gave at their start. */
  readonly warnings: readonly string[];

  private constructor(children: readonly Child[], ready: readonly MerchantReady[]) {
    this.#children = children;
    this.addresses = ready.flatMap(({ address }) => address ?? []);
    this.warnings = ready.flatMap((one) => one.warnings);
  }

  static async start(url: string): Promise<Merchant> {
    const program = join(import.meta.dirname, 'merchant-process.ts');
    // It is counted, and not printed four times.
    const execArgv = ['--disable-warning=ASYNCHRONOUS_STANDBY'];
    const roles = ['receiver', 'receiver', 'worker', 'worker'] as const;
    const children = roles.map(() => new Child(program, { execArgv }));
    const start = (child: Child, index: number): Promise<MerchantReady> =>
      child.ask({ role: roles[index] ?? 'worker', url } satisfies MerchantSettings);
    return new Merchant(children, await Promise.all(children.map(start)));
  }

  /** @throws {Error} when one of them has ended: no failover may do that. */
  check(): void {
    if (this.#children.some(({ hasEnded }) => hasEnded))
      throw new Error("One of the merchant's programs has ended. Its output says why.");
  }

  async end(): Promise<void> {
    for (const child of this.#children) await child.kill();
  }
}
