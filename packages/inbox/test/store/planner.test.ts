import pg from 'pg';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { createInbox, postgres, type Store, sqlite } from '../../src/index.ts';
import { Statements } from '../../src/store/statements.ts';
import { folderOnDisk } from '../support/temporary-folder.ts';

const DUE = 30_000;
const WINDOW = 50;
/** Entries of the index that a window may visit. */
const MOST_VISITED = 100;
const SCHEMA = 'planner_inbox';

/** Half of them first deliveries of the same millisecond, as after an outage; and many that nobody works on any more. */
const FILL = `insert into inbox.transition (transition_id, account, signed, reference_key, transaction_type, subject_key, state,
    bodies, next_at, first_at, changed_at)
  select 't' || i, '', '{}', 'r' || i, '"COLLECTION"', 's' || i,
    case when i <= ${DUE} then 'pending' else 'settled' end, 1,
    case when i <= ${DUE} / 2 then 1000 when i <= ${DUE} then i end, 1, 1`;
const POSTGRES_FILL = `${FILL} from generate_series(1, ${DUE * 2}) i`;
const SQLITE_FILL = `${FILL} from (with recursive n(i) as (select 1 union all select i + 1 from n where i < ${DUE * 2}) select i from n)`;
/** The cursor of an earlier claim. Without a LIMIT, the planner sorts every due row, or visits it. */
const WITHOUT_LIMIT = `select transition_id, subject_key, reference_key from inbox.transition
  where account = $1 and next_at is not null and next_at <= 4000000000000 order by next_at, id`;

/** The beginning, and marks among equal times, in the middle and at the end. */
const MARKS = [
  [-1, 0],
  [1000, 9000],
  [20_000, 20_000],
  [29_990, DUE * 2],
];

describe('a look for due transitions on postgres, with 30,000 due', () => {
  const pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: 3 });
  const store = postgres(pool, { schema: SCHEMA });
  beforeAll(async () => {
    await loaded(store, POSTGRES_FILL);
    await pool.query(`analyze ${SCHEMA}.transition`);
    return () => pool.end();
  });

  for (const workMem of ['4MB', '64MB']) {
    it.each(MARKS)(`visits one window at work_mem ${workMem}, from the mark (%i, %i)`, async (...mark) => {
      const plan = await explained(new Statements(store).text('find_due'), ['', ...mark], workMem);
      expect(plan.nodes.filter((node) => /Sort|Seq Scan/.test(node))).toEqual([]);
      expect(plan.given).toBe(mark[0] === 29_990 ? 10 : WINDOW);
      expect(plan.visited).toBeGreaterThanOrEqual(plan.given);
      expect(plan.conditions).toContain('(ROW(next_at, id) > ');
      expect(plan.visited).toBeLessThanOrEqual(MOST_VISITED);
    });

    it(`finds the fault in a cursor without LIMIT at work_mem ${workMem} (control)`, async () => {
      const plan = await explained(WITHOUT_LIMIT.replaceAll('inbox.', store.prefix), [''], workMem);
      const isSorting = plan.nodes.some((node) => /Sort|Seq Scan/.test(node));
      expect(isSorting || plan.visited > MOST_VISITED).toBe(true);
      expect(plan.visited).toBeGreaterThanOrEqual(DUE);
    });
  }

  /** As a driver runs it, with parameters. */
  async function explained(
    text: string,
    values: (string | number)[],
    workMem: string,
  ): Promise<{ nodes: string[]; conditions: string; visited: number; given: number }> {
    const client = await pool.connect();
    try {
      await client.query(`set work_mem = '${workMem}'`);
      const { rows } = await client.query(`explain (analyze, format json) ${text}`, values);
      const [{ Plan: root }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }];
      const nodes = flat(root);
      const scans = nodes.filter((node) => node['Relation Name'] === 'transition');
      const visited = scans.map((scan) => scan['Actual Rows'] + (scan['Rows Removed by Filter'] ?? 0));
      return {
        nodes: nodes.map((node) => node['Node Type']),
        conditions: scans.map((scan) => scan['Index Cond']).join(' '),
        visited: visited.reduce((sum, rowCount) => sum + rowCount, 0),
        given: root['Actual Rows'],
      };
    } finally {
      client.release(true);
    }
  }
});

describe('a look for due transitions on sqlite, with 30,000 due', () => {
  const store = sqlite(`${folderOnDisk()}/planner.db`);
  const planOf = async (text: string, values: (string | number)[]): Promise<string> => {
    const plan = `explain query plan ${text.replaceAll('inbox.', store.prefix).replace(/\$(\d)/g, '?$1')}`;
    const { rows } = await store.transaction((tx) => tx.query(plan, values));
    return rows.map(({ detail }) => String(detail)).join('\n');
  };
  beforeAll(async () => {
    await loaded(store, SQLITE_FILL);
    await store.query('analyze', []);
    return () => store.close?.();
  });

  it.each(MARKS)('goes along the index from the mark (%i, %i), and sorts nothing', async (...mark) => {
    const text = new Statements(store).text('find_due');
    const plan = await planOf(text, ['', ...mark]);
    expect(plan).toMatch(
      /^SEARCH \w+ USING INDEX payment_inbox_transition_due \(account=\? AND next_at>\? AND .*\)$/,
    );
    expect(await store.query(text, ['', ...mark])).toHaveLength(mark[0] === 29_990 ? 10 : WINDOW);
  });

  it('finds the fault where the index does not give the order (control)', async () => {
    expect(await planOf(WITHOUT_LIMIT.replace('next_at, id', 'id, next_at'), [''])).toContain('TEMP B-TREE');
  });
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

function flat(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flat)];
}

async function loaded<Tx>(store: Store<Tx>, fill: string): Promise<void> {
  const inbox = createInbox({ store });
  await inbox.ready();
  await store.query(fill.replaceAll('inbox.', store.prefix), []);
}
