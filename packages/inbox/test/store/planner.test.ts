import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { createInbox, postgres, type Store, sqlite } from '../../src/index.ts';
import { Statements } from '../../src/store/statements.ts';
import { folderOnDisk } from '../support/temporary-folder.ts';

const DUE = 30_000;
const WINDOW = 50;

/** Half of them first deliveries of the same millisecond, as after an outage; and many that are no longer due. */
const NUMBERS = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${DUE * 2})`;
const FILLS = [
  `insert into inbox.callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
  ${NUMBERS} select 't' || i, '', '{}', 'r' || i, '"COLLECTION"', 's' || i, 1 from n`,
  `insert into inbox.transition (id, account, state, bodies, next_at, changed_at)
  ${NUMBERS} select i, '', case when i <= ${DUE} then 'pending' else 'settled' end, 1,
    case when i <= ${DUE} / 2 then 1000 when i <= ${DUE} then i end, 1 from n`,
];
/** A cursor without a LIMIT: the planner sorts every due row, or visits it. */
const WITHOUT_LIMIT = `select id, attempts, changed_at from inbox.transition
  where account = $1 and next_at is not null and next_at <= 4000000000000 order by next_at, id`;

/** The beginning, and marks among equal times, in the middle and at the end; and how many are due from there. */
const MARKS = [
  [-1, 0, WINDOW],
  [1000, 9000, WINDOW],
  [20_000, 20_000, WINDOW],
  [29_990, DUE * 2, 10],
] as const;

async function fill<Tx>(store: Store<Tx>): Promise<void> {
  await createInbox({ store }).ready();
  for (const fill of FILLS) await store.query({ text: fill.replaceAll('inbox.', store.prefix) }, []);
  await store.query({ text: `analyze ${store.prefix}transition` }, []);
}

describe('finding due transitions on postgres, with 30,000 due', () => {
  const pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: 3 });
  const store = postgres(pool, { schema: 'planner_inbox' });
  beforeAll(async () => {
    await fill(store);
    return () => pool.end();
  });

  /** As a driver runs it, with parameters: how many entries of the index it visits, unless it scans. */
  async function visitedBy(
    text: string,
    values: readonly (string | number)[],
    workMem: string,
  ): Promise<number> {
    const client = await pool.connect();
    try {
      await client.query(`begin; set local work_mem = '${workMem}'`);
      const { rows } = await client.query(`explain (analyze, format json) ${text}`, [...values]);
      const [{ Plan: root }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }];
      const nodes = flat(root);
      if (nodes.some((node) => node['Node Type'] === 'Seq Scan')) return DUE;
      const visited = nodes.map((node) => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0));
      return Math.max(...visited);
    } finally {
      // Undoes what was started.
      client.release(true);
    }
  }

  describe.each(['4MB', '64MB'])('at work_mem %s', (workMem) => {
    test.each(MARKS)('visits one window from the mark (%i, %i)', async (nextAt, id, given) => {
      const text = new Statements(store).get('find_due').text;
      expect(await visitedBy(text, ['', nextAt, id], workMem)).toBe(given);
      const { text: starting } = new Statements(store).get('start_first');
      expect(await visitedBy(starting, ['', nextAt, id, 1000, 'a start'], workMem)).toBe(given);
    });

    test('visits all of them with a cursor without LIMIT (control)', async () => {
      const text = WITHOUT_LIMIT.replaceAll('inbox.', store.prefix);
      expect(await visitedBy(text, [''], workMem)).toBe(DUE);
    });
  });
});

describe('finding due transitions on sqlite, with 30,000 due', () => {
  const store = sqlite(`${folderOnDisk()}/planner.db`);
  const planOf = async (text: string, values: (string | number)[]): Promise<string> => {
    const plan = `explain query plan ${text.replaceAll('inbox.', store.prefix).replace(/\$(\d)/g, '?$1')}`;
    const { rows } = await store.transaction((tx) => tx.query(plan, values));
    return rows.map(({ detail }) => String(detail)).join('\n');
  };
  beforeAll(async () => {
    await fill(store);
    return () => store.close?.();
  });

  test.each(MARKS)(
    'goes along the index from the mark (%i, %i), and sorts nothing',
    async (nextAt, id, given) => {
      const statement = new Statements(store).get('find_due');
      const index = 'USING INDEX payment_inbox_transition_due';
      expect(await planOf(statement.text, ['', nextAt, id])).toMatch(
        new RegExp(`^SEARCH \\w+ ${index} \\(account=\\? AND next_at>\\? AND next_at<\\?\\)$`, 'm'),
      );
      expect(await store.query(statement, ['', nextAt, id])).toHaveLength(given);
    },
  );

  test('sorts where the index does not give the order (control)', async () => {
    expect(await planOf(WITHOUT_LIMIT.replace('next_at, id', 'id, next_at'), [''])).toContain('TEMP B-TREE');
  });
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

function flat(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flat)];
}

describe('an attempt on sqlite', () => {
  const scans = (file: DatabaseSync, text: string): unknown[] =>
    text
      .split(';')
      .filter((part) => part.trim() !== '')
      .flatMap((part) => file.prepare(`explain query plan ${part}`).all())
      .map(({ detail }) => detail)
      .filter((detail) => String(detail).startsWith('SCAN'));

  test('reads no table from end to end', async () => {
    const path = `${folderOnDisk()}/plans.db`;
    const store = sqlite(path);
    const inbox = createInbox({ store });
    await inbox.ready();
    const statements = new Statements(store);
    const file = new DatabaseSync(path);
    // Statistics from when nothing was settled: to the planner, the index of what is settled looks empty.
    const numbers = (count: number): string =>
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count}) `;
    file.exec(
      `insert into payment_inbox_callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
         ${numbers(3000)} select 't' || i, '', '{}', 'r' || i, '"COLLECTION"', 's' || i, 1 from n;
       insert into payment_inbox_expectation (reference_key, transaction_type, account, merchant_reference, currency, amount,
         compare, replaced, changed_at)
         ${numbers(3000)} select 'r' || i, '"COLLECTION"', '', 'm', 'UGX', '5', 'request', '[]', 1 from n;
       analyze;`,
    );
    const names = [
      'find_due',
      'start_attempt',
      'read_case',
      'read_past',
      'lock_expectation',
      'settle',
      'park',
    ];
    for (const name of names)
      expect({ name, scans: scans(file, statements.get(name).text) }).toEqual({ name, scans: [] });
    // Control: without its key, the expectation is found by reading all of them.
    const { text } = statements.get('settle');
    const unkeyed = text.replaceAll(/\be\.reference_key = /g, "e.reference_key || '' = ");
    expect(scans(file, unkeyed)).toEqual([expect.stringContaining('SCAN')]);
    file.close();
    await inbox.close();
  });
});
