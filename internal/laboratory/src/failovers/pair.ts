import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type PostgresServer, startPostgres } from '@payment-service/postgres-server';
import { Link } from '../load/link.ts';
import { withClient } from '../load/postgres.ts';
import { until } from '../measure/until.ts';

/** What a standby has missed is still there when it connects. */
const SETTINGS = { wal_level: 'replica', wal_keep_size: '1GB', synchronous_commit: 'on' };
const STANDBY = { wal_retrieve_retry_interval: '100ms' };

/** A primary and its standby, and the one address at which the merchant's programs find the primary. */
export class Pair {
  /** For the merchant's programs: always of the primary. */
  readonly url: string;
  readonly #isSynchronous: boolean;
  readonly #front: Link;
  /** Between the two servers. */
  readonly #between: Link;
  #primary: PostgresServer;
  #standby: PostgresServer | undefined;

  private constructor(primary: PostgresServer, links: readonly [Link, Link], isSynchronous: boolean) {
    this.#primary = primary;
    [this.#front, this.#between] = links;
    this.#isSynchronous = isSynchronous;
    const url = new URL(primary.url);
    url.port = String(this.#front.port);
    this.url = url.href;
  }

  /** @param isSynchronous whether a commit waits for the standby's disk. */
  static async start(isSynchronous: boolean): Promise<Pair> {
    const primary = await startPostgres(SETTINGS);
    const port = portOf(primary.url);
    return new Pair(primary, [await Link.open(port), await Link.open(port)], isSynchronous);
  }

  /** Of the primary, past the link. */
  get primaryUrl(): string {
    return this.#primary.url;
  }

  /** Of the standby, which answers questions and takes nothing. */
  get standbyUrl(): string | undefined {
    return this.#standby?.url;
  }

  /** Makes a standby out of a copy of the primary, and resolves when it holds all that the primary has committed. */
  async addStandby(): Promise<void> {
    const { url, dataFolder } = this.#primary;
    this.#between.pointAt(portOf(url));
    const { password } = new URL(url);
    const conninfo = `host=127.0.0.1 port=${this.#between.port} user=postgres password=${password} application_name=standby`;
    this.#standby = await startPostgres(
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

  /** Nothing reaches the standby any more: the network between the two has stalled. */
  stallStandby(): void {
    this.#between.hold();
  }

  /** What the standby missed since then reaches it. */
  releaseStandby(): void {
    this.#between.release();
  }

  /** Kills all processes of the primary together, promotes the standby, and points the address at it. */
  async failOver(): Promise<void> {
    const [killed, promoted] = [this.#primary, this.#standby];
    if (promoted === undefined) throw new Error('There is no standby to promote.');
    await killed.kill('everything');
    this.#front.cut();
    // What it did not have when the primary died, it never gets.
    this.#between.cut();
    await withClient(promoted.url, async (client) => {
      const { rows } = await client.query<{ done: boolean }>('select pg_promote(true, 60) as done');
      if (rows[0]?.done !== true) throw new Error('The standby was not promoted within a minute.');
    });
    this.#primary = promoted;
    this.#standby = undefined;
    this.#front.pointAt(portOf(promoted.url));
    await killed.stop();
  }

  async stop(): Promise<void> {
    await this.#front.close();
    await this.#between.close();
    await this.#standby?.stop();
    await this.#primary.stop();
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** What is in folders whose contents belong to the running server, or come over the replication connection. */
const EMPTIED = /^pg_(wal|replslot|dynshmem|notify|serial|snapshots|stat_tmp|subtrans)[\\/]/;
const LEFT_OUT = /^(postmaster\.(pid|opts)|standby\.signal|backup_label|tablespace_map)$/;

/**
 * Copies the data of a server that runs and is written to, as PostgreSQL's manual says for a base backup with its
 * functions, and makes a standby of the copy. `pg_basebackup` does the same; the programs from npm do not hold it.
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
  // Who waits for whom is said to each server again.
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

/** A table that is dropped or truncated meanwhile takes its file with it; the write-ahead log says so, too. */
function ignoreVanished(error: unknown): void {
  if (!(error instanceof Error) || Reflect.get(error, 'code') !== 'ENOENT') throw error;
}
