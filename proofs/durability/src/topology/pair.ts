import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type PostgresServer, startPostgres } from '@payment-service/servers/postgres';
import type { Read } from '../history/remains.ts';
import type { Link } from '../load/link.ts';
import { withClient } from '../load/postgres.ts';
import { monotonicMs } from '../measure/measure.ts';
import { atTheEnd } from '../measure/program.ts';
import { until } from '../measure/until.ts';
import { type Database, type Linked, linkTo, type Replicated, reader } from './topology.ts';

/** Keeps what a standby has missed until it connects. */
const SETTINGS = { wal_level: 'replica', wal_keep_size: '1GB', synchronous_commit: 'on' };
const STANDBY = { wal_retrieve_retry_interval: '100ms' };

/** A primary and its standby, and the one address at which the merchant's programs reach the primary. */
export class Pair implements Replicated {
  /** Its address is always the primary's. */
  readonly database: Database;
  readonly read: Read;
  readonly faults: readonly string[] = ['killed'];
  readonly #isSynchronous: boolean;
  readonly #front: Link;
  /** The network between the two servers. */
  readonly #between: Link;
  /** Reached directly, not through the link. */
  primary: PostgresServer;
  /** Can be read but not written. */
  standby: PostgresServer | undefined;

  private constructor(primary: PostgresServer, front: Linked, between: Link, isSynchronous: boolean) {
    this.primary = primary;
    this.#front = front.link;
    this.#between = between;
    this.#isSynchronous = isSynchronous;
    this.database = { store: 'postgres', url: front.url };
    this.read = reader(front.url);
  }

  /** @param isSynchronous whether a commit waits for the standby's disk. */
  static async start(isSynchronous: boolean): Promise<Pair> {
    const primary = await startPostgres(SETTINGS);
    const [front, { link }] = [await linkTo(primary.url), await linkTo(primary.url)];
    const pair = new Pair(primary, front, link, isSynchronous);
    atTheEnd(async () => {
      await pair.standby?.stop();
      await pair.primary.stop();
    });
    return pair;
  }

  async heal(): Promise<void> {}

  /** Creates the standby from a copy of the primary, and resolves when it has everything that the primary has committed. */
  async whole(): Promise<void> {
    if (this.standby !== undefined) return;
    const { url, dataFolder } = this.primary;
    this.#between.pointAt(portOf(url));
    const { password } = new URL(url);
    const conninfo = `host=127.0.0.1 port=${this.#between.port} user=postgres password=${password} application_name=standby`;
    this.standby = await startPostgres(
      { ...SETTINGS, ...STANDBY, primary_conninfo: conninfo },
      { password, fill: (folder) => copyForStandby(url, dataFolder, folder) },
    );
    await withClient(url, async (client) => {
      if (this.#isSynchronous) {
        await client.query("alter system set synchronous_standby_names = '*'");
        await client.query('select pg_reload_conf()');
      }
      const wanted = this.#isSynchronous ? 'sync' : 'async';
      const follows = (condition: string): Promise<true> =>
        until(`the standby to follow: ${condition}`, async () => {
          const { rowCount } = await client.query(`select 1 from pg_stat_replication where ${condition}`);
          return rowCount === 0 ? undefined : true;
        });
      await follows(`state = 'streaming' and sync_state = '${wanted}'`);
      const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_flush_lsn()::text as lsn');
      await follows(`flush_lsn >= '${rows[0]?.lsn}'`);
    });
  }

  /** Stalls the network between the two. */
  holdReplication(): void {
    this.#between.hold();
  }

  /** Delivers to the standby what it has missed since. */
  releaseStandby(): void {
    this.#between.release();
  }

  /** Kills all processes of the primary together, promotes the standby, and points the address at it. */
  async strike(): Promise<number> {
    const [killed, promoted] = [this.primary, this.standby];
    if (promoted === undefined) throw new Error('There is no standby to promote.');
    await killed.kill('everything');
    const at = monotonicMs();
    this.#front.cut();
    // It never receives what it did not have when the primary died.
    this.#between.cut();
    await withClient(promoted.url, async (client) => {
      const { rows } = await client.query<{ done: boolean }>('select pg_promote(true, 60) as done');
      if (rows[0]?.done !== true) throw new Error('The standby was not promoted within a minute.');
    });
    this.primary = promoted;
    this.standby = undefined;
    this.#front.pointAt(portOf(promoted.url));
    await killed.stop();
    return at;
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** The contents of folders that belong to the running server, or come over the replication connection. */
const EMPTIED = /^pg_(wal|replslot|dynshmem|notify|serial|snapshots|stat_tmp|subtrans)[\\/]/;
const LEFT_OUT = /^(postmaster\.(pid|opts)|standby\.signal|backup_label|tablespace_map)$/;

/**
 * Copies the data of a running server under writes, with the functions for base backups, as PostgreSQL's manual describes, and
 * makes the copy a standby. `pg_basebackup` does the same, but the programs from npm do not include it.
 */
async function copyForStandby(url: string, from: string, to: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query("select pg_backup_start('standby', fast => true)");
    await copyFolder(from, to);
    const { rows } = await client.query<{ label: string }>(
      'select labelfile as label from pg_backup_stop(wait_for_archive => false)',
    );
    await writeFile(join(to, 'backup_label'), rows[0]?.label ?? '');
  });
  // Each server is told anew which standby it waits for.
  await writeFile(join(to, 'postgresql.auto.conf'), '');
  await writeFile(join(to, 'standby.signal'), '');
}

async function copyFolder(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath, entry.name);
    const path = relative(from, source);
    if (EMPTIED.test(path) || LEFT_OUT.test(path)) continue;
    if (entry.isDirectory()) await mkdir(join(to, path), { recursive: true, mode: 0o700 });
    else await copyFile(source, join(to, path)).catch(ignoreVanished);
  }
}

/** A table that is dropped or truncated meanwhile loses its file; the write-ahead log records that, too. */
function ignoreVanished(error: unknown): void {
  if (!(error instanceof Error) || Reflect.get(error, 'code') !== 'ENOENT') throw error;
}
