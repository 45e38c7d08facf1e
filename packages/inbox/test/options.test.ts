import { join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { createInbox, postgres, sqlite } from '../src/index.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

describe('options are checked at construction, and the error names the option', () => {
  it.each([
    ['store', { store: undefined }],
    ['store', { store: { name: 'redis' } }],
    ['account', { account: 7 }],
    ['account', { account: 'a\0b' }],
    ['account', { account: 'x'.repeat(201) }],
    ['account', { account: '\ud800' }],
    ['spool', { spool: ':memory:' }],
    ['onEvent', { onEvent: 'log' }],
    ['now', { now: 5 }],
    ['random', { random: null }],
    ['allowTransitions', { allowTransitions: { COMPLETED: 'FAILED' } }],
    ['allowTransitions', { allowTransitions: null }],
    ['storeTimeoutMs', { storeTimeoutMs: 0 }],
    ['storeTimeoutMs', { storeTimeoutMs: Number.NaN }],
    ['handlerTimeoutMs', { handlerTimeoutMs: 1.5 }],
    ['attempts', { retry: { attempts: 0 } }],
    ['longestDelayMs', { retry: { longestDelayMs: 2 ** 40 } }],
  ])('%s: %o', (option, wrong) => {
    const store = sqlite(join(temporaryFolder(), 'x.db'));
    const create = (): unknown => Reflect.apply(createInbox, undefined, [{ store, ...wrong }]);
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(expect.objectContaining({ option }));
  });

  it.each([undefined, {}, { connect: 5 }])('postgres(%o) is no pool', (pool) => {
    expect(() => Reflect.apply(postgres, undefined, [pool])).toThrow(ConfigurationError);
  });

  it.each(['', 'Upper', 'with space', 'a;b', 'pg_x', 'a"b', 'x'.repeat(64)])(
    'the schema %j is refused',
    (schema) => {
      const pool = { connect: () => undefined, on: () => undefined };
      expect(() => Reflect.apply(postgres, undefined, [pool, { schema }])).toThrow(ConfigurationError);
    },
  );

  it('options of calls', async () => {
    const inbox = createInbox({ store: sqlite(join(temporaryFolder(), 'x.db')) });
    inbox.handle(() => undefined);
    const { signal } = new AbortController();
    const calls = [
      inbox.work({ signal, concurrency: 0 }),
      inbox.work({ signal, pollMs: 0.5 }),
      Reflect.apply(inbox.work, undefined, [{ signal: 'no' }]),
      inbox.health({ maxPendingAgeSeconds: 0 }),
      inbox.prune({ bodiesOlderThanDays: Number.NaN }),
      inbox.overdue({ limit: 0 }),
      inbox.show('A'.repeat(64)),
    ];
    await Promise.all(calls.map((call) => expect(call).rejects.toThrow(ConfigurationError)));
    await inbox.close();
    const other = createInbox({ store: sqlite(join(temporaryFolder(), 'x.db')) });
    expect(() => Reflect.apply(other.handle, undefined, ['no'])).toThrow(ConfigurationError);
    expect(() => Reflect.apply(other.handle, undefined, [() => 1, { statuses: [] }])).toThrow(
      ConfigurationError,
    );
    expect(() => Reflect.apply(other.handle, undefined, [() => 1, { statuses: [1] }])).toThrow(
      ConfigurationError,
    );
    await other.close();
  });

  it('a pool that is too small for the concurrency is refused, with the numbers', async () => {
    const { default: pg } = await import('pg');
    const { inject } = await import('vitest');
    const pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: 5 });
    const inbox = createInbox({ store: postgres(pool) });
    inbox.handle(() => undefined);
    const work = inbox.work({ signal: new AbortController().signal, concurrency: 4 });
    await expect(work).rejects.toThrow(/max of 6/);
    await inbox.close();
    await pool.end();
  });
});
