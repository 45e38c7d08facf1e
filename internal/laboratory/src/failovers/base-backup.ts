import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withClient } from '../load/postgres.ts';

/** Folders whose contents belong to the running server, or come over the replication connection. */
const EMPTIED = /^pg_(wal|replslot|dynshmem|notify|serial|snapshots|stat_tmp|subtrans)$/;
const LEFT_OUT = /^(postmaster\.(pid|opts)|standby\.signal|backup_label|tablespace_map)$/;

/**
 * Copies the data of a server that runs and is written to, as PostgreSQL's manual says for a base backup with its
 * functions, and makes a standby of the copy. `pg_basebackup` does the same; the programs from npm do not hold it.
 */
export async function copyForStandby(url: string, from: string, to: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query("select pg_backup_start('standby', fast => true)");
    await copyFolder(from, to, true);
    const { rows } = await client.query<{ label: string }>(
      'select labelfile as label from pg_backup_stop(wait_for_archive => false)',
    );
    await writeFile(join(to, 'backup_label'), rows[0]?.label ?? '');
  });
  // Who waits for whom is said to each server again.
  await writeFile(join(to, 'postgresql.auto.conf'), '');
  await writeFile(join(to, 'standby.signal'), '');
}

async function copyFolder(from: string, to: string, isTop: boolean): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      if (isTop && EMPTIED.test(entry.name)) await mkdir(copy, { mode: 0o700 });
      else await copyFolder(source, copy, false);
    } else if (!isTop || !LEFT_OUT.test(entry.name)) {
      await copyFile(source, copy).catch(ignoreVanished);
    }
  }
}

/** A table that is dropped or truncated meanwhile takes its file with it; the write-ahead log says so, too. */
function ignoreVanished(error: unknown): void {
  if (!(error instanceof Error) || Reflect.get(error, 'code') !== 'ENOENT') throw error;
}
