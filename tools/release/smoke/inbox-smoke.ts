import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { paymentCallbacks } from '@payment-service/express';
import { createInbox, type Inbox, type SqliteTransaction, sqlite } from '@payment-service/inbox';
import express from 'express';
import { listening } from './listening.ts';

const signingKey = 'SMOKE-SIGNING-KEY';
const file = `inbox-${process.pid}.sqlite`;

/** A callback that arrives twice, through an adapter into the embedded store: applied once, with the expected amount. */
async function inboxSmoke(): Promise<void> {
  const inbox = createInbox({ store: sqlite(file) });
  try {
    await receiveTwice(inbox);
    assert.deepEqual(await applied(inbox), ['ORD-1001 UGX 500, charge 15']);
  } finally {
    await inbox.close();
    for (const suffix of ['', '-wal', '-shm', '-spool']) {
      await rm(file + suffix, { recursive: true, force: true });
    }
  }
  console.log('the inbox works');
}

async function receiveTwice(inbox: Inbox<SqliteTransaction>): Promise<void> {
  await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: '500' });
  const callbacks = paymentCallbacks({ signingKey, onCallback: inbox.receive });
  await listening(createServer(express().use(callbacks)), async (url) => {
    const data = sampleCallback();
    const signature = signCallback({ signingKey, data });
    const headers = { 'content-type': 'application/json', 'hmac-signature': signature };
    for (const _ of ['first', 'again']) {
      const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(data) });
      assert.equal(status, 200);
    }
  });
}

async function applied(inbox: Inbox<SqliteTransaction>): Promise<string[]> {
  const done = new AbortController();
  const payments: string[] = [];
  inbox.handle(({ signed }) => assert.fail(signed.transaction_status), { status: '*' });
  inbox.handle(async ({ tx, signed, settled, claimed }) => {
    await tx.query('create table if not exists paid (reference text primary key)');
    await tx.query('insert into paid values (?)', [signed.merchant_reference]);
    payments.push(
      `${signed.merchant_reference} ${settled.currency} ${settled.amount}, charge ${claimed.transaction_charge}`,
    );
    done.abort();
  });
  await inbox.work({ signal: done.signal });
  return payments;
}

inboxSmoke().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
