/**
 * A program of the merchant's, which receives and works when it is told to. It returns the CPU time of its process so far, in
 * milliseconds.
 */
import type { VerifiedCallback } from '@payment-service/core';
import { createInbox, postgres } from '@payment-service/inbox';
import pg from 'pg';
import { freshCallbacks, verified } from '../load/callbacks.ts';
import { inConcert } from '../load/in-concert.ts';
import { answerQuestions, tellParent } from '../measure/child.ts';

export type ScalingRequest =
  | { readonly kind: 'open'; readonly postgresUrl: string }
  /** Makes callbacks, and says what is expected of them: untimed. */
  | { readonly kind: 'prepare'; readonly prefix: string; readonly count: number }
  | { readonly kind: 'receive'; readonly concurrency: number }
  /** Works until it is told to rest. */
  | { readonly kind: 'work' }
  | { readonly kind: 'rest' };

const CONNECTIONS = 10;

let inbox: ReturnType<typeof open>;
let callbacks: readonly VerifiedCallback[] = [];
let working: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
let settled = 0;

answerQuestions(async (request: ScalingRequest) => {
  await answer(request);
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
});

function open(postgresUrl: string) {
  // Connections that stay: the CPU time of the server is read from its processes.
  const pool = new pg.Pool({ connectionString: postgresUrl, max: CONNECTIONS, idleTimeoutMillis: 0 });
  const own = createInbox({
    store: postgres(pool),
    onEvent: ({ name }) => {
      if (name === 'transition.settled') tellSettled();
    },
  });
  own.handle(async ({ tx, signed, settled: { amount } }) => {
    await tx.query('insert into credit (reference, amount) values ($1, $2)', [
      signed.merchant_reference,
      amount,
    ]);
  });
  return own;
}

async function answer(request: ScalingRequest): Promise<void> {
  if (request.kind === 'open') {
    inbox = open(request.postgresUrl);
    await inbox.ready();
  } else if (request.kind === 'prepare') {
    callbacks = verified(freshCallbacks(request.prefix, request.count));
    await inbox.transaction(async (tx) => {
      for (const { signed } of callbacks) {
        const { merchant_reference } = signed;
        await inbox.expect({ merchant_reference, currency: 'UGX', amount: '500' }, { tx });
      }
    });
  } else if (request.kind === 'receive') {
    await inConcert(callbacks, request.concurrency, inbox.receive);
  } else if (request.kind === 'work') {
    const stop = new AbortController();
    working = { stop, ended: inbox.work({ signal: stop.signal }) };
  } else {
    working?.stop.abort();
    await working?.ended;
  }
}

/** How many, once for all that settled in this turn. */
function tellSettled(): void {
  settled += 1;
  if (settled > 1) return;
  setImmediate(() => {
    tellParent(settled);
    settled = 0;
  });
}
