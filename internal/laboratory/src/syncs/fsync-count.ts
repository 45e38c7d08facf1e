/**
 * `pnpm fsync-count [--count N] [--report path]`: acknowledges callbacks over HTTP while strace writes down every fsync
 * and fdatasync of the engine's write-ahead log, and then asks of each acknowledgement: was there a sync that began after
 * the request and ended before the answer? The controls answer before anything is on disk, and must show that there was
 * none. Needs strace, and ends with 1 where it is not installed or a target is missed.
 */
import { startPostgres } from '@payment-service/postgres-server';
import { installed } from '../measure/installed.ts';
import { atTheEnd, makeFolder, readFlags, runProgram } from '../measure/program.ts';
import { countSyncs, judgeSyncs, syncTable } from './count-syncs.ts';

const { count, report } = readFlags({ count: 300 });
const missing = installed('strace');
if (missing !== undefined) {
  console.error(missing);
  process.exitCode = 1;
} else {
  await runProgram({ name: 'fsync-count', report }, async () => {
    const folder = await makeFolder();
    // The background writers of a server would sync in time for any caller that waits long enough: they are told to take their time.
    const postgres = await startPostgres({ wal_writer_delay: '10000', checkpoint_timeout: '1h' });
    atTheEnd(() => postgres.stop());
    const names = ['inbox', 'control'].flatMap((name) => [`${name}, postgres`, `${name}, sqlite`]);
    const counts = [];
    for (const name of names) counts.push(...(await countSyncs(name, [1, 32], count, { folder, postgres })));
    return { results: judgeSyncs(counts), tables: [syncTable(counts)], counts };
  });
}
