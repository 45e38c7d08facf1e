import { stat } from 'node:fs/promises';
import { deliveriesIn } from '../../intake/spool.ts';
import { spoolPath } from '../../store/sqlite/database-path.ts';
import { type Findings, problem } from './finding.ts';

/** A receiver stores the contents of its spool every few seconds. */
const LATE_MS = 60_000;

/**
 * Reads the folder, which is created when it is needed, and never writes to it, since it belongs to the receiver.
 *
 * @throws {ConfigurationError} For a folder on a network file system, as far as it can be detected.
 */
export async function checkSpool(path: string, owner: string): Promise<Findings> {
  const folder = await stat(spoolPath(path)).catch(() => undefined);
  const deliveries = folder?.isDirectory() ? await deliveriesIn(path) : [];
  const late = deliveries.filter(({ keptAt }) => Date.now() - keptAt > LATE_MS);
  const others = late.filter((each) => each.owner !== owner).length;
  const minutes = Math.floor((Date.now() - Math.min(...late.map(({ keptAt }) => keptAt))) / LATE_MS);
  return [
    folder?.isDirectory() === false &&
      problem`spool: ${path} is not a folder.
        While the database is unavailable, callbacks are answered with 429.
        Move the file, or set spool to another path.`,
    late.length > 0 &&
      problem`spool: ${late.length} callbacks are in ${path}, the oldest for ${minutes} minutes; ${others} are of another account, schema or database.
        They were acknowledged and are not in the database: the service does not repeat them, and none is applied.
        Start the program that receives callbacks, on this machine and with this spool: it stores them. Do not delete files.`,
  ];
}
