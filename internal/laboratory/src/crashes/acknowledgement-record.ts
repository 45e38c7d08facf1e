import { appendFileSync, closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Delivery } from './payment-plan.ts';

/** What was sent and acknowledged, as `transition id:digest of the body`. */
export function deliveryKey({ transitionId, digest }: Pick<Delivery, 'transitionId' | 'digest'>): string {
  return `${transitionId}:${digest}`;
}

/**
 * The sender's own record of every acknowledgement: a file that is only appended to, in no database, so that nothing
 * which loses a callback could lose its line too.
 */
export class AcknowledgementRecord {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  add(delivery: Delivery): void {
    appendFileSync(this.#file, `${deliveryKey(delivery)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** @returns how often each delivery was acknowledged, by its key. */
export async function readAcknowledgements(path: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const file = await open(path);
  for await (const key of file.readLines()) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
