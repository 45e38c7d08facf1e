import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite';
import type { VerifiedCallback } from '@payment-service/core';
import { proofOf, type SignatureCheck } from '@payment-service/core/internal';
import { onTestFinished } from 'vitest';
import type { IntakeRecord } from '../../src/delivery/stored-delivery.ts';
import { type InboxEvent, type InboxProblem, sqlite } from '../../src/index.ts';
import { Spool } from '../../src/intake/spool.ts';
import { spoolFile, spoolOwner } from '../../src/intake/spool-file.ts';
import { callbackRecord } from '../../src/intake/verified-record.ts';
import { settingsOf } from '../../src/options.ts';
import { callback, paid } from './callbacks.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { pause } from './until.ts';

/** Identifies the tables of the inboxes that share a spool. */
const PLACE = { dialect: 'sqlite', prefix: 'payment_inbox_' } as const;

/** Of a `TestSpool`. */
export const OWNER: string = spoolOwner('A', PLACE);

/** A spool, and a store that can be unavailable. */
export class TestSpool {
  readonly path: string;
  readonly spool: Spool;
  readonly events: InboxEvent[] = [];
  /** What `onError` got: the kind and the message. */
  readonly problems: string[] = [];
  readonly taken: IntakeRecord[] = [];
  /** What the store waits for. */
  wait: () => Promise<void> = () => pause(1);
  isThere = false;
  /** How often the store was called. */
  calls = 0;

  constructor(path: string = newPath(), account = 'A') {
    this.path = path;
    const onEvent = (event: InboxEvent): unknown => this.events.push(event);
    const onError = (error: unknown, { kind }: InboxProblem): unknown =>
      this.problems.push(`${kind}: ${Object(error).message}`);
    const file = join(temporaryFolder(), 'x.db');
    const settings = settingsOf({ store: sqlite(file), onEvent, onError });
    const store = async (record: IntakeRecord): Promise<void> => {
      this.calls += 1;
      await this.wait();
      if (!this.isThere) throw new Error('The store did not take it.');
      this.taken.push(record);
    };
    this.spool = new Spool({ path, owner: spoolOwner(account, PLACE), settings, store });
    onTestFinished(() => this.spool.close());
  }

  /** Does the same as an inbox when its program starts. */
  start(): this {
    this.isThere = true;
    this.spool.start();
    this.spool.trust(checkOf(callback()));
    return this;
  }

  keep(reference: string, amount?: number): Promise<boolean> {
    return this.keepCallback(paid(reference, amount ?? 500));
  }

  /** As an inbox does. */
  keepCallback(verified: VerifiedCallback): Promise<boolean> {
    this.spool.trust(checkOf(verified));
    return this.spool.keep(callbackRecord(verified, ''), proofOf(verified)?.signature, 'ECONNREFUSED');
  }

  async keepAll(references: readonly string[]): Promise<void> {
    for (const reference of references) await this.keep(reference);
  }

  async isEmpty(): Promise<boolean> {
    return (await this.spool.count()) === 0;
  }

  countOf(event: InboxEvent['name']): number {
    return this.events.filter(({ name }) => name === event).length;
  }

  /** What the store has accepted, each delivery once. */
  references(): string[] {
    return [...new Set(this.taken.map(referenceOf))].sort();
  }
}

/** The folder of a closed spool: no round of that spool reads what is changed in its file now. */
export async function leftSpool(references: readonly string[]): Promise<string> {
  const ended = new TestSpool();
  await ended.keepAll(references);
  await ended.spool.close();
  return ended.path;
}

/** A spool that holds these texts, or genuine deliveries in their places. */
export async function spoolOf(...texts: readonly (string | undefined)[]): Promise<string> {
  const path = await leftSpool(texts.map((_text, index) => `${index}`));
  for (const [index, text] of texts.entries())
    if (text !== undefined) askFile(path, 'update delivery set text = ? where place = ?', text, index + 1);
  return path;
}

/** Of the route that received it. */
export function checkOf(verified: VerifiedCallback): SignatureCheck {
  const proof = proofOf(verified);
  if (proof === undefined) throw new Error('The test wanted a verified callback.');
  return proof.check;
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

/** What is in the file of a spool, in its order. */
export function rowsIn(path: string): { text: string; isRefused: boolean }[] {
  if (!existsSync(spoolFile(path)) || askFile(path, 'select 1 from sqlite_schema').length === 0) return [];
  const rows = askFile(path, 'select text, is_refused from delivery order by place');
  return rows.map((row) => ({ text: String(row['text']), isRefused: row['is_refused'] === 1 }));
}

/** As another program that writes to the file. */
export function askFile(
  path: string,
  text: string,
  ...values: readonly SQLInputValue[]
): Record<string, SQLOutputValue>[] {
  const database = new DatabaseSync(spoolFile(path));
  try {
    database.exec('pragma busy_timeout = 5000');
    return database.prepare(text).all(...values);
  } finally {
    database.close();
  }
}
