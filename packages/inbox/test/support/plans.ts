import type pg from 'pg';
import { createInbox, type SqliteTransaction, type Store } from '../../src/index.ts';
import { inDialect } from '../../src/store/statements.ts';
import type { SqlValue } from '../../src/store/store.ts';

/** A statement of the inbox, with its values. */
export interface Asked {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Counts from 1, as the table n with the column i. */
export const numbers = (count: number): string =>
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`;

/** Creates the tables and runs these statements, written like those of the inbox. */
export async function fill<Tx>(store: Store<Tx>, fills: readonly string[]): Promise<void> {
  await createInbox({ store }).ready();
  for (const text of fills) await store.query({ text: inDialect(text, store) }, []);
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

const flat = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flat)];

/** Runs a statement on PostgreSQL: how many rows the busiest node of its plan reads in all of its loops. */
export async function visitedBy(client: Pick<pg.Pool, 'query'>, { text, values }: Asked): Promise<number> {
  const { rows } = await client.query(`explain (analyze, format json) ${text}`, [...values]);
  const [{ Plan: root }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }];
  const visited = flat(root).map((node) => {
    const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
    return (node['Actual Rows'] + removed) * node['Actual Loops'];
  });
  return Math.max(...visited);
}

/** SQLite's plans for one or more statements, one line for each step. */
export async function planOf(store: Store<SqliteTransaction>, text: string): Promise<string[]> {
  const parts = text.split(/;\n/).map((part) => store.query({ text: `explain query plan ${part}` }, []));
  return (await Promise.all(parts)).flat().map(({ detail }) => String(detail));
}
