import { ConfigurationError } from '@payment-service/core';
import { numberOf, type Row, textOf } from './store.ts';

const MIN_VERSION = 130000;
const SETTINGS = `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
  current_setting('synchronous_commit') as synchronous_commit, current_setting('server_encoding') as encoding,
  cast(current_setting('server_version_num') as integer) as version`;

/**
 * Refuses a PostgreSQL that would not keep what it acknowledges.
 *
 * @throws {ConfigurationError} Says which setting to change.
 */
export async function checkDurability(query: (text: string) => Promise<readonly Row[]>): Promise<void> {
  const [settings = {}] = await query(SETTINGS);
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    if (textOf(settings, name) !== 'off') continue;
    throw new ConfigurationError(
      'store',
      `This PostgreSQL runs with ${name} = off, so what it acknowledges can be lost when its machine stops. Set ` +
        `${name} = on for the server, the database and the role.`,
    );
  }
  if (numberOf(settings, 'version') < MIN_VERSION) {
    throw new ConfigurationError('store', 'The inbox needs PostgreSQL 13 or later.');
  }
  if (textOf(settings, 'encoding') !== 'UTF8') {
    throw new ConfigurationError('store', 'The inbox needs a PostgreSQL database with the encoding UTF8.');
  }
}
