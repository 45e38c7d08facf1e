import { createVerifier } from '@payment-service/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions } from '../src/index.ts';
import { call, collection, listOf } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';
import { type Merchant, type Received, startMerchant } from './support/merchant.ts';

let merchant: Merchant;
let sandbox: Sandbox;
beforeEach(async () => {
  merchant = await startMerchant();
});
afterEach(async () => {
  await sandbox.close();
  await merchant.close();
});

const open = (options: SandboxOptions = {}): Sandbox => {
  sandbox = createSandbox({ callbackUrl: merchant.url, ...options });
  return sandbox;
};

/** What the verifier of core makes of it: the reference, or the refusal. */
const verdict = ({ headers, body }: Received): string => {
  const verifier = createVerifier({ signingKey: sandbox.account.signingKey });
  const signature = headers['hmac-signature'];
  const result = verifier.verifyCallback({ signature, body });
  return result.ok ? result.signed.merchant_reference : result.code;
};

const until = async (done: () => boolean): Promise<void> => {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 2));
};

describe('a callback', () => {
  it('is a signed POST that the verifier of core accepts', async () => {
    open().collect({ ...collection, merchant_reference: 'ORD-7' });
    await sandbox.idle();
    expect(merchant.received.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /callbacks']);
    expect(merchant.received.map(verdict)).toEqual(['ORD-7']);
    expect(merchant.received[0]?.data.event).toBe('transaction.completed');
    expect(merchant.received[0]?.data.payload.transaction_status).toBe('COMPLETED');
  });

  it('of a failed transaction says FAILED (simulated)', async () => {
    open().collect({ ...collection, outcome: 'failed' });
    await sandbox.idle();
    expect(merchant.received[0]?.data.event).toBe('transaction.failed');
    expect(merchant.received[0]?.data.payload.transaction_status).toBe('FAILED');
    expect(merchant.received.map(verdict)).toEqual(['ORD-1']);
  });

  it('is not sent while the transaction is pending, nor without an address', async () => {
    open({ callbackUrl: undefined }).collect(collection);
    const { transaction } = sandbox.collect({ ...collection, callback_url: merchant.url, mode: 'pending' });
    expect(sandbox.deliveries()).toEqual([]);
    sandbox.decide(transaction.id, 'completed');
    await sandbox.idle();
    expect(merchant.received).toHaveLength(1);
  });

  it('carries t in seconds, or in milliseconds when told to', async () => {
    const clock = createManualClock(Date.UTC(2026, 0, 2));
    open({ clock }).collect(collection);
    await sandbox.idle();
    expect(merchant.received[0]?.headers['hmac-signature']).toMatch(/^t=1767312000,s=/);
    await sandbox.close();
    open({ clock, timestampUnit: 'milliseconds' }).collect(collection);
    await sandbox.idle();
    expect(merchant.received[1]?.headers['hmac-signature']).toMatch(/^t=1767312000000,s=/);
  });
});

describe('misbehaviour', () => {
  it('duplicate: the same body and signature again, one after the other', async () => {
    open().collect({ ...collection, misbehave: { duplicate: 2 } });
    await sandbox.idle();
    expect(merchant.received.map(verdict)).toEqual(['ORD-1', 'ORD-1', 'ORD-1']);
    const sent = merchant.received.map(({ headers, body }) => `${headers['hmac-signature']} ${body}`);
    expect(new Set(sent).size).toBe(1);
    expect(sandbox.deliveries().map(({ misbehaves }) => misbehaves)).toEqual([
      [],
      ['duplicate 1'],
      ['duplicate 2'],
    ]);
  });

  it('late: nothing before the time, then one', async () => {
    const clock = createManualClock();
    open({ clock }).collect({ ...collection, misbehave: { late_ms: 10_000 } });
    expect(clock.sleeping()).toEqual([10_000]);
    clock.move(9999);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(merchant.received).toHaveLength(0);
    clock.move(1);
    await sandbox.idle();
    expect(merchant.received).toHaveLength(1);
  });

  it('out of order: after the callback of the next transaction', async () => {
    open({ clock: createManualClock() });
    sandbox.collect({ ...collection, merchant_reference: 'ORD-1', misbehave: { out_of_order: true } });
    sandbox.collect({ ...collection, merchant_reference: 'ORD-2' });
    await sandbox.idle();
    expect(merchant.received.map(verdict)).toEqual(['ORD-2', 'ORD-1']);
  });

  it('out of order as the default of the sandbox: pairs change places', async () => {
    open({ clock: createManualClock(), misbehave: { out_of_order: true } });
    for (const pair of [
      ['ORD-1', 'ORD-2'],
      ['ORD-3', 'ORD-4'],
    ]) {
      for (const merchant_reference of pair) sandbox.collect({ ...collection, merchant_reference });
      await sandbox.idle();
    }
    expect(merchant.received.map(verdict)).toEqual(['ORD-2', 'ORD-1', 'ORD-4', 'ORD-3']);
  });

  it('out of order without another transaction: sent after a minute all the same', async () => {
    const clock = createManualClock();
    open({ clock }).collect({ ...collection, misbehave: { out_of_order: true } });
    expect(clock.sleeping()).toEqual([60_000]);
    clock.move(60_000);
    await sandbox.idle();
    expect(merchant.received).toHaveLength(1);
  });

  it('A2: forged amount: the amount differs, and the signature is valid', async () => {
    open().collect({ ...collection, misbehave: { forged_amount: 5_000_000 } });
    await sandbox.idle();
    expect(merchant.received.map(verdict)).toEqual(['ORD-1']);
    expect(merchant.received[0]?.data.payload).toMatchObject({
      request_amount: 5_000_000,
      transaction_amount: 5_000_000,
      transaction_charge: 15,
      total_credit: 4_999_985,
    });
  });

  it('A5: a forged body first, then the genuine one', async () => {
    open().collect({ ...collection, misbehave: { forged_amount: 1, duplicate: 1 } });
    await sandbox.idle();
    expect(merchant.received.map(verdict)).toEqual(['ORD-1', 'ORD-1']);
    expect(merchant.received.map(({ data }) => data.payload.transaction_amount)).toEqual([1, 500]);
  });

  it('bad signature: well-formed, and refused by the verifier', async () => {
    open({ retry: { max_attempts: 1 } }).collect({ ...collection, misbehave: { bad_signature: true } });
    await sandbox.idle();
    expect(merchant.received.map(verdict)).toEqual(['mismatch']);
  });

  it('a request that says {} behaves, whatever the sandbox is set to', async () => {
    open({ misbehave: { duplicate: 3 } }).collect({ ...collection, misbehave: {} });
    await sandbox.idle();
    expect(merchant.received).toHaveLength(1);
  });

  it('the default can be changed while it runs', async () => {
    open();
    const answer = await call(sandbox, 'PUT', '/sandbox/defaults', { misbehave: { duplicate: 1 } });
    expect(answer.body.data).toEqual({ misbehave: { duplicate: 1 }, retry: {} });
    sandbox.collect(collection);
    await sandbox.idle();
    expect(merchant.received).toHaveLength(2);
  });
});

describe('retries', () => {
  const attemptsOf = () =>
    sandbox
      .deliveries()
      .map(({ state, attempts }) => [state, ...attempts.map(({ status, error }) => status ?? error)]);

  it('repeats with backoff until a 2xx, and keeps every attempt', async () => {
    const clock = createManualClock();
    merchant.answer = (response) => {
      response.statusCode = [500, 401, 302, 202][merchant.received.length - 1] ?? 599;
      response.setHeader('location', '/elsewhere');
      response.end('why');
    };
    open({ clock }).collect(collection);
    const waits: number[] = [];
    for (let attempt = 1; attempt < 4; attempt += 1) {
      await until(() => clock.sleeping().length > 0);
      waits.push(...clock.sleeping());
      clock.move(waits.at(-1) ?? 0);
    }
    await sandbox.idle();
    expect(waits).toEqual([1000, 2000, 4000]);
    expect(attemptsOf()).toEqual([['delivered', 500, 401, 302, 202]]);
    expect(sandbox.deliveries()[0]?.attempts[0]?.answer).toBe('why');
    expect(clock.sleeping()).toEqual([]);
  });

  it('A28: repeats the first t, unless told to sign afresh', async () => {
    merchant.answer = (response) => {
      response.statusCode = 500;
      response.end();
    };
    for (const resign of [false, true]) {
      const clock = createManualClock(Date.UTC(2026, 0, 2));
      open({ clock, retry: { max_attempts: 2, backoff_ms: 60_000, resign } }).collect(collection);
      await until(() => clock.sleeping().length > 0);
      clock.move(60_000);
      await sandbox.idle();
      await sandbox.close();
    }
    const stamps = merchant.received.map(({ headers }) => String(headers['hmac-signature']).slice(0, 12));
    expect(stamps).toEqual(['t=1767312000', 't=1767312000', 't=1767312000', 't=1767312060']);
    expect(merchant.received.map(verdict).slice(2)).toEqual(['ORD-1', 'ORD-1']);
  });

  it('gives up after max_attempts', async () => {
    merchant.answer = (response) => {
      response.statusCode = 503;
      response.end();
    };
    open({ retry: { max_attempts: 3, backoff_ms: 0 } }).collect(collection);
    await sandbox.idle();
    expect(attemptsOf()).toEqual([['given_up', 503, 503, 503]]);
  });

  it('which statuses count, and which end it, are options; backoff is capped', async () => {
    const clock = createManualClock();
    merchant.answer = (response) => {
      response.statusCode = [200, 409, 410][merchant.received.length - 1] ?? 599;
      response.end();
    };
    const retry = {
      accepted: [204],
      final: [410],
      backoff_ms: 3000,
      backoff_factor: 10,
      max_backoff_ms: 5000,
    };
    open({ clock, retry }).collect(collection);
    const waits: number[] = [];
    for (let attempt = 1; attempt < 3; attempt += 1) {
      await until(() => clock.sleeping().length > 0);
      waits.push(...clock.sleeping());
      clock.move(waits.at(-1) ?? 0);
    }
    await sandbox.idle();
    expect(waits).toEqual([3000, 5000]);
    expect(attemptsOf()).toEqual([['given_up', 200, 409, 410]]);
  });

  it('a status class counts, such as 4xx', async () => {
    merchant.answer = (response) => {
      response.statusCode = 404;
      response.end();
    };
    open().collect({ ...collection, retry: { accepted: ['4xx'] } });
    await sandbox.idle();
    expect(attemptsOf()).toEqual([['delivered', 404]]);
  });

  it('a receiver that refuses, hangs up or stalls is an attempt with its reason', async () => {
    open({ retry: { max_attempts: 1 }, deliveryTimeoutMs: 100 });
    merchant.answer = (response) => response.destroy();
    sandbox.collect(collection);
    await sandbox.idle();
    merchant.answer = () => {};
    sandbox.collect(collection);
    await sandbox.idle();
    // The headers come, and the body does not end.
    merchant.answer = (response) => void response.write('a');
    sandbox.collect(collection);
    await sandbox.idle();
    const gone = await startMerchant();
    await gone.close();
    sandbox.collect({ ...collection, callback_url: gone.url });
    await sandbox.idle();
    const [hungUp, stalled, endless, refused] = sandbox.deliveries().flatMap(({ attempts }) => attempts);
    expect(hungUp).toMatchObject({ status: null, error: 'UND_ERR_SOCKET' });
    expect(stalled).toMatchObject({ status: null, error: 'no answer within 100 ms' });
    expect(endless).toMatchObject({ status: 200, error: 'no answer within 100 ms' });
    expect(refused).toMatchObject({ status: null, error: 'ECONNREFUSED' });
    expect(new Set(sandbox.deliveries().map(({ state }) => state))).toEqual(new Set(['given_up']));
  });

  it('of an answer only the start is kept, and the rest is not read', async () => {
    let written = 0;
    merchant.answer = (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) written += 65_536;
        response.once('drain', more);
      };
      more();
    };
    open({ retry: { max_attempts: 1 } }).collect(collection);
    await sandbox.idle();
    const [delivery] = sandbox.deliveries();
    expect(delivery?.attempts[0]?.answer).toBe('x'.repeat(512));
    expect(delivery?.state).toBe('delivered');
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });
});

describe('the queue', () => {
  it('release sends what is late, held and waiting for a retry', async () => {
    open({ clock: createManualClock() });
    sandbox.collect({ ...collection, misbehave: { late_ms: 100_000 } });
    sandbox.collect({ ...collection, misbehave: { out_of_order: true } });
    const answer = await call(sandbox, 'POST', '/sandbox/deliveries/release');
    expect(answer.body.data).toEqual({ released: 2 });
    await sandbox.idle();
    expect(merchant.received).toHaveLength(2);
  });

  it('moving the clock sends what becomes due', async () => {
    open().collect({ ...collection, misbehave: { late_ms: 86_400_000 } });
    sandbox.advance(86_400);
    await sandbox.idle();
    expect(merchant.received).toHaveLength(1);
  });

  it('a delivery can be sent again', async () => {
    open().collect(collection);
    await sandbox.idle();
    const [{ id } = { id: 0 }] = sandbox.deliveries();
    const again = await call(sandbox, 'POST', `/sandbox/deliveries/${id}/resend`);
    expect(again.status).toBe(201);
    await sandbox.idle();
    expect(merchant.received.map(verdict)).toEqual(['ORD-1', 'ORD-1']);
    expect((await call(sandbox, 'POST', '/sandbox/deliveries/1/resend')).status).toBe(404);
  });

  it('is listed with attempts, by transaction', async () => {
    const { transaction } = open().collect(collection);
    sandbox.collect({ ...collection, merchant_reference: 'ORD-2' });
    await sandbox.idle();
    const list = listOf(
      await call(sandbox, 'GET', `/sandbox/deliveries?transaction_id=${transaction.id}`),
      'deliveries',
    );
    expect(list).toHaveLength(1);
    expect(list[0]).toMatchObject({
      transaction_id: transaction.id,
      url: merchant.url,
      state: 'delivered',
      due_at: null,
    });
    expect(list[0]?.['attempts']).toEqual([
      { at: expect.any(String), status: 200, error: null, answer: '{"status":"accepted"}' },
    ]);
  });

  it('an attempt that could not be written down is reported, and made again after a pause', async () => {
    const manual = createManualClock();
    const failure = new Error('disk full');
    const errors: unknown[] = [];
    let broken = false;
    const now = (): number => {
      if (broken) throw failure;
      return manual.now();
    };
    merchant.answer = (response) => {
      broken = merchant.received.length === 1;
      response.end();
    };
    open({ clock: { now, sleep: manual.sleep }, onError: (error) => errors.push(error) }).collect(collection);
    await until(() => manual.sleeping().length > 0);
    expect(errors).toEqual([failure]);
    expect(manual.sleeping()).toEqual([1000]);
    broken = false;
    manual.move(1000);
    await sandbox.idle();
    expect(merchant.received).toHaveLength(2);
    expect(sandbox.deliveries()[0]?.state).toBe('delivered');
  });

  it('many at once: everything arrives once', async () => {
    open();
    const references = Array.from({ length: 100 }, (_, index) => `ORD-${index}`);
    for (const merchant_reference of references) sandbox.collect({ ...collection, merchant_reference });
    await sandbox.idle();
    expect(merchant.received.map(verdict).sort()).toEqual([...references].sort());
  });

  it('reset empties everything, and an attempt in flight does no harm', async () => {
    let release: (() => void) | undefined;
    merchant.answer = (response) => {
      release = () => response.end();
    };
    open().collect(collection);
    await until(() => release !== undefined);
    const answer = await call(sandbox, 'POST', '/sandbox/reset');
    expect(answer.status).toBe(200);
    release?.();
    await sandbox.idle();
    expect(sandbox.deliveries()).toEqual([]);
    const { transaction } = sandbox.collect({ ...collection, callback_url: undefined, mode: 'pending' });
    // Numbers are never given out twice, so a merchant's software cannot mistake a new transaction for an old one.
    expect(transaction.id).toBeGreaterThan(1002);
  });
});

describe('close', () => {
  it('waits for the delivery in flight, and stops those that wait', async () => {
    const clock = createManualClock();
    let release: (() => void) | undefined;
    merchant.answer = (response) => {
      release = () => response.end();
    };
    open({ clock });
    sandbox.collect({ ...collection, misbehave: { late_ms: 1000 } });
    sandbox.collect(collection);
    await until(() => release !== undefined);
    let isClosed = false;
    const closing = sandbox.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isClosed).toBe(false);
    release?.();
    await closing;
    expect(clock.sleeping()).toEqual([]);
    clock.move(10_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(merchant.received).toHaveLength(1);
  });

  it('may come twice, and nothing works afterwards', async () => {
    open();
    await Promise.all([sandbox.close(), sandbox.close()]);
    expect(() => sandbox.collect(collection)).toThrow('The sandbox is closed. Create another one.');
    await expect(sandbox.fetch('http://127.0.0.1/')).rejects.toThrow('The sandbox is closed.');
    await expect(sandbox.listen()).rejects.toThrow('The sandbox is closed.');
  });
});
