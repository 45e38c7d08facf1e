import pg from 'pg';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { postgres, sqlite } from '../../src/index.ts';
import { Statements } from '../../src/store/statements.ts';
import { fill, numbers, planOf, visitedBy } from '../support/plans.ts';
import { folderOnDisk } from '../support/temporary-folder.ts';

const DUE = 30_000;
const WINDOW = 50;

/** Half of them are first deliveries of the same millisecond, as after an outage; many others are no longer due. */
const FILLS = [
  `insert into inbox.callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
  ${numbers(DUE * 2)} select 't' || i, '', '{}', 'r' || i, '"COLLECTION"', 's' || i, 1 from n`,
  `insert into inbox.transition (id, account, state, bodies, next_at, changed_at)
  ${numbers(DUE * 2)} select i, '', case when i <= ${DUE} then 'pending' else 'settled' end, 1,
    case when i <= ${DUE} / 2 then 1000 when i <= ${DUE} then i end, 1 from n`,
  'analyze inbox.transition',
];
/** A cursor without a LIMIT: the planner sorts every due row, or visits it. */
const WITHOUT_LIMIT = `select id, attempts, changed_at from inbox.transition
  where account = $1 and next_at is not null and next_at <= 4000000000000 order by next_at, id`;

/** The newest of all, as if they had become due within a minute. */
const newestIn = <Tx>(statements: Statements<Tx>): string =>
  statements.get('find_newest').text.replace('60000', '4000000000000');
const NEWEST = ['', 4_000_000_000_000] as const;

/** The beginning, and marks among equal times, in the middle and at the end; and how many are due from there. */
const MARKS = [
  [-1, 0, WINDOW],
  [1000, 9000, WINDOW],
  [20_000, 20_000, WINDOW],
  [29_990, DUE * 2, 10],
] as const;

describe('finding due transitions on postgres, with 30,000 due', () => {
  const pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: 3 });
  const store = postgres(pool, { schema: 'planner_inbox' });
  const statements = new Statements(store);
  beforeAll(async () => {
    await fill(store, FILLS);
    return () => pool.end();
  });

  /** How many index entries a statement visits, run with parameters as by a driver. */
  async function visited(workMem: string, text: string, values: (string | number)[]): Promise<number> {
    const client = await pool.connect();
    try {
      await client.query(`begin; set local work_mem = '${workMem}'`);
      return await visitedBy(client, { text, values });
    } finally {
      // Undoes the starts.
      client.release(true);
    }
  }

  test.each(['4MB', '64MB'])('visits one window from a mark at work_mem %s', async (workMem) => {
    for (const [nextAt, id, given] of MARKS) {
      const mark = ['', nextAt, id];
      expect(await visited(workMem, statements.get('find_due').text, mark)).toBe(given);
      const { text } = statements.get('start_first');
      expect(await visited(workMem, text, [...mark, 1000, 'a start'])).toBe(given);
      const ahead = await visited(workMem, statements.get('find_place').text, [...mark, 7]);
      expect(ahead).toBe(given < WINDOW ? given : 800);
    }
    expect(await visited(workMem, newestIn(statements), [...NEWEST])).toBe(20);
    const { text: findPutOff } = statements.get('find_put_off');
    expect(await visited(workMem, findPutOff, ['', 1000, 3_600_000, 1000, 3_600_000])).toBe(10_000);
    // Control: all of them, with a cursor without LIMIT.
    const text = WITHOUT_LIMIT.replaceAll('inbox.', store.prefix);
    expect(await visited(workMem, text, [''])).toBeGreaterThanOrEqual(DUE);
  });
});

describe('on sqlite', () => {
  const store = sqlite(`${folderOnDisk()}/planner.db`);
  const statements = new Statements(store);
  beforeAll(async () => {
    await fill(store, FILLS);
    return () => store.close?.();
  });

  test('finding 30,000 that are due goes along the index from a mark, and sorts nothing', async () => {
    const statement = statements.get('find_due');
    const index = 'USING INDEX payment_inbox_transition_due';
    expect((await planOf(store, statement.text)).join('\n')).toMatch(
      new RegExp(`^SEARCH \\w+ ${index} \\(account=\\? AND next_at>\\? AND next_at<\\?\\)$`, 'm'),
    );
    for (const [nextAt, id, given] of MARKS)
      expect(await store.query(statement, ['', nextAt, id])).toHaveLength(given);
    expect((await planOf(store, newestIn(statements))).join('\n')).toMatch(
      new RegExp(`SEARCH f ${index} \\(account=\\? AND next_at>\\? AND next_at<\\?\\)`),
    );
    expect(await store.query({ text: newestIn(statements) }, NEWEST)).toMatchObject(
      Array.from({ length: 20 }, (_, place) => ({ id: DUE - place })),
    );
    const putOff = await planOf(store, statements.get('find_put_off').text);
    expect(putOff.filter((step) => step.includes(index))).toHaveLength(2);
    expect(putOff.join()).not.toContain('TEMP B-TREE');
    // Control: it sorts where the index does not give the order.
    const text = WITHOUT_LIMIT.replace('next_at, id', 'id, next_at').replaceAll('inbox.', store.prefix);
    expect((await planOf(store, text)).join()).toContain('TEMP B-TREE');
  });

  test('an attempt reads no table from end to end', async () => {
    const own = sqlite(`${folderOnDisk()}/plans.db`);
    onTestFinished(async () => own.close?.());
    await fill(own, [
      (FILLS[0] ?? '').replace(String(DUE * 2), '3000'),
      `insert into inbox.payment (reference_key, transaction_type, account, merchant_reference, state, currency, amount,
         compare, replaced, changed_at)
       ${numbers(3000)} select 'r' || i, '"COLLECTION"', '', '"m"', 'open', 'UGX', '5', 'request', '[]', 1 from n`,
      // Statistics from before anything was settled: to the planner, the index of settled rows looks empty.
      'analyze',
    ]);
    const scans = async (text: string): Promise<string[]> =>
      (await planOf(own, text)).filter((step) => step.startsWith('SCAN'));
    const attempt = [
      'start_attempt of unsynced',
      'read_case',
      'find_archived',
      'lock_payment',
      'read_reports',
      'settle',
      'park',
    ];
    for (const name of ['find_due', ...attempt])
      expect({ name, scans: await scans(statements.get(name).text) }).toEqual({ name, scans: [] });
    // Of the 20 that it has read.
    expect(await scans(statements.get('find_newest').text)).toEqual(['SCAN newest']);
    // Control: without its key, the expectation is found only by reading all of them.
    const { text } = statements.get('settle');
    const unkeyed = text.replaceAll(/\be\.reference_key = /g, "e.reference_key || '' = ");
    expect(await scans(unkeyed)).toEqual([expect.stringContaining('SCAN')]);
  });
});
