import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { MerchantReady, MerchantSettings } from './merchant-process.ts';

/** The merchant's programs: receivers and workers, two of each. */
export class Merchant {
  readonly #children: readonly ChildProcess[];
  /** Of the receivers. */
  readonly addresses: readonly string[];
  /** Codes of the warnings that the inboxes gave at their start. */
  readonly warnings: readonly string[];

  private constructor(children: readonly ChildProcess[], ready: readonly MerchantReady[]) {
    this.#children = children;
    this.addresses = ready.flatMap(({ address }) => address ?? []);
    this.warnings = ready.flatMap((one) => one.warnings);
  }

  static async start(url: string): Promise<Merchant> {
    const roles = ['receiver', 'receiver', 'worker', 'worker'] as const;
    const children = roles.map((role) => {
      const settings: MerchantSettings = { role, url };
      return fork(join(import.meta.dirname, 'merchant-process.ts'), [JSON.stringify(settings)]);
    });
    return new Merchant(children, await Promise.all(children.map(readyOf)));
  }

  /** @throws {Error} when one of them has ended: no failover may do that. */
  check(): void {
    if (this.#children.some(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null)) {
      throw new Error("One of the merchant's programs has ended by itself. Its output says why.");
    }
  }

  async end(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
  }
}

function readyOf(child: ChildProcess): Promise<MerchantReady> {
  return new Promise((resolve, reject) => {
    child.once('message', (message: MerchantReady) => resolve(message));
    child.once('exit', (code) => reject(new Error(`A program of the merchant's ended with ${code}.`)));
  });
}
