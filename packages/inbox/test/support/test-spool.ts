import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type InboxEvent, sqlite } from '../../src/index.ts';
import type { IntakeOutcome } from '../../src/intake/keep.ts';
import { callbackRecord, type IntakeRecord } from '../../src/intake/record.ts';
import { Spool } from '../../src/intake/spool.ts';
import { checkOptions } from '../../src/options.ts';
import { paid } from './callbacks.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { pause } from './until.ts';

/** A spool, and a store that can be unavailable, or refuse the deliveries of one reference. */
export class TestSpool {
  readonly path: string;
  readonly spool: Spool;
  readonly events: InboxEvent[] = [];
  readonly taken: IntakeRecord[] = [];
  /** What the store does with a reference instead of taking it. */
  readonly answers: Map<string, () => IntakeOutcome> = new Map();
  /** What the store waits for. */
  wait: () => Promise<void> = () => pause(1);
  isThere = false;
  /** How often the store was called. */
  calls = 0;

  constructor(path: string = newPath(), owner = 'A') {
    this.path = path;
    const onEvent = (event: InboxEvent): unknown => this.events.push(event);
    const settings = checkOptions({ store: sqlite(join(temporaryFolder(), 'x.db')), onEvent });
    const store = async (record: IntakeRecord): Promise<IntakeOutcome> => {
      this.calls += 1;
      await this.wait();
      if (!this.isThere) throw new Error('The store is unavailable.');
      const outcome = this.answers.get(referenceOf(record))?.() ?? 'new';
      if (outcome === 'new') this.taken.push(record);
      return outcome;
    };
    this.spool = new Spool({ path, owner, settings, store });
    onTestFinished(() => this.spool.close());
  }

  /** As an inbox does when its program starts. */
  start(): this {
    this.isThere = true;
    this.spool.start();
    return this;
  }

  keep(reference: string, amount?: number): Promise<boolean> {
    return this.spool.keep(recordOf(reference, amount));
  }

  /** All together, which is one file, or one after the other. */
  async keepAll(references: readonly string[], isTogether: boolean): Promise<void> {
    if (isTogether) await Promise.all(references.map((reference) => this.keep(reference)));
    // A millisecond apart, so that their names have an order.
    else for (const reference of references) await this.keep(reference).then(() => pause(2));
  }

  async isEmpty(): Promise<boolean> {
    return (await this.spool.count()) === 0;
  }

  /** How many deliveries each file holds. */
  sizes(): number[] {
    return filesIn(this.path).map((name) => Number(name.split('-')[3]));
  }

  countOf(event: InboxEvent['name']): number {
    return this.events.filter(({ name }) => name === event).length;
  }

  /** Of what the store has taken, each one once. */
  references(): string[] {
    return [...new Set(this.taken.map(referenceOf))].sort();
  }
}

export function recordOf(reference: string, amount = 500): IntakeRecord {
  return callbackRecord(paid(reference, amount), '');
}

export function referenceOf({ signed }: IntakeRecord): string {
  return (JSON.parse(signed) as { merchant_reference: string }).merchant_reference;
}

export function newPath(): string {
  return join(temporaryFolder(), 'spool');
}

export function filesIn(path: string): string[] {
  return existsSync(path) ? readdirSync(path).sort() : [];
}
