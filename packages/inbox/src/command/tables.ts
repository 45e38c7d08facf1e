import manifest from '../../package.json' with { type: 'json' };
import { migrate, migrationsOf, VERSION, versionOf } from '../store/schema.ts';
import type { Place } from '../store/store.ts';
import { table } from './format.ts';
import { type OpenStore, placeOf, readEngine, withStore } from './open-inbox.ts';
import { type AddVerb, option, upTo, verb } from './verbs.ts';

/** The versions of everything, side by side. */
export interface Versions {
  /** The version of the tables; undefined if there are none, or if they could not be read. */
  readonly tables: number | undefined;
  /** The version of the tables that this program creates. */
  readonly program: number;
  readonly package: string;
  readonly node: string;
  /** Such as "PostgreSQL 17.2"; undefined if it did not answer. */
  readonly engine: string | undefined;
}

export const OWN_VERSIONS: Versions = {
  tables: undefined,
  program: VERSION,
  package: manifest.version,
  node: process.versions.node,
  engine: undefined,
};

export type TableState = 'none' | 'older' | 'current' | 'newer';

const BRING =
  "Run 'migrate', or start your program, whose ready() does it, or have a DBA run the output of 'sql'.";
/** What to do about the tables. */
export const NEXT_STEP: Readonly<Record<TableState, string>> = {
  none: `${BRING} If the tables should exist, correct the database and --schema.`,
  older: BRING,
  current: 'The tables are up to date.',
  newer: 'A newer version has changed the tables, and this program still works with them. Update it soon.',
};

export function tableState({ tables, program }: Versions): TableState {
  if (tables === undefined) return 'none';
  return tables < program ? 'older' : tables > program ? 'newer' : 'current';
}

/** Before an inbox can use them. */
export const mustChange = (versions: Versions): boolean => ['none', 'older'].includes(tableState(versions));

type OfSql = { readonly dialect?: Place['dialect']; readonly from: number };

/** `migrate`, `status` and `sql`. */
export const TABLES: readonly AddVerb[] = [
  verb({
    name: 'migrate',
    about: 'creates the tables, or brings them up to date',
    run: (_own: object, open) =>
      withStore(open, async ({ store, statements }) => {
        const from = (await versionOf(statements)) ?? 0;
        await migrate(store, statements);
        return { from, to: (await versionOf(statements)) ?? 0 };
      }),
    format: ({ from, to }) => {
      if (from >= to) return `Nothing to do: the tables have version ${to}.`;
      if (from === 0) return `The tables were created, with version ${to}.`;
      return `The tables were updated from version ${from} to version ${to}.`;
    },
  }),
  verb({
    name: 'status',
    about: 'compares the version of the tables with this program; exit code 3 if they must be changed',
    run: async (_own: object, open) => {
      const versions = await withStore(open, readVersions);
      return { state: tableState(versions), ...versions };
    },
    format: (versions) => `${formatVersions(versions)}\n\n${NEXT_STEP[versions.state]}`,
    needsPerson: mustChange,
  }),
  verb({
    name: 'sql',
    about: 'prints the SQL of the tables for a DBA; opens no database',
    options: [
      option('--dialect <name>', 'the dialect of the database').choices(['postgres', 'sqlite']),
      option('--from <version>', 'only the steps after this version of the tables', upTo(1000), 0),
    ],
    run: async ({ dialect, from }: OfSql, open) =>
      migrationsOf(placeOf(open, dialect)).filter(({ version }) => version > from),
    format: (migrations, own, open) => {
      const { dialect, prefix } = placeOf(open, own.dialect);
      const steps = migrations.map(
        ({ version, sql }) =>
          `-- Version ${version} of the tables of @payment-service/inbox\nbegin;\n${sql}commit;\n`,
      );
      return [...steps, ...(dialect === 'postgres' ? [grantsFor(prefix.slice(0, -1))] : [])].join('\n');
    },
  }),
];

/** @throws {ConfigurationError} If a newer version has made tables that this program does not understand. */
async function readVersions<Tx>(opened: OpenStore<Tx>): Promise<Versions> {
  return { ...OWN_VERSIONS, engine: await readEngine(opened), tables: await versionOf(opened.statements) };
}

export function formatVersions({ tables, program, package: own, node, engine }: Versions): string {
  return table(undefined, [
    ['tables', tables === undefined ? 'none' : `version ${tables}`],
    ['this command', `version ${program}, of @payment-service/inbox ${own}`],
    ['database', engine ?? 'does not answer'],
    ['Node', node],
  ]);
}

/** The grants that a program needs if its role does not own the tables. */
const grantsFor = (schema: string): string => `-- If the program has its own role:
-- grant usage on schema ${schema} to <role>;
-- grant select, insert, update, delete on all tables in schema ${schema} to <role>;`;
