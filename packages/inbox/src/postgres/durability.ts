import { ConfigurationError } from '@payment-service/core';
import { numberOf, type Session, textOf } from '../session.ts';

const OLDEST_VERSION = 130000;

/**
 * Refuses a database that would not keep what it acknowledges, and settings under which the inbox's own statements do not
 * mean what they say.
 *
 * @throws {ConfigurationError} that says which setting to change.
 */
export async function checkDurability(session: Session): Promise<void> {
  const { rows } = await session.query(
    `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
       current_setting('synchronous_commit') as synchronous_commit, current_setting('server_encoding') as encoding,
       current_setting('array_nulls') as array_nulls,
       current_setting('default_transaction_isolation') as isolation,
       current_setting('server_version_num')::int as version`,
  );
  const [settings = {}] = rows;
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    if (textOf(settings, name) === 'off') {
      throw new ConfigurationError(
        'store',
        `This PostgreSQL runs with ${name} = off, so what it acknowledges can be lost when its machine stops. Set ` +
          `${name} = on for the server, the database and the role.`,
      );
    }
  }
  if (numberOf(settings, 'version') < OLDEST_VERSION) {
    throw new ConfigurationError('store', 'The inbox needs PostgreSQL 13 or later.');
  }
  if (textOf(settings, 'encoding') !== 'UTF8') {
    throw new ConfigurationError('store', 'The inbox needs a PostgreSQL database with the encoding UTF8.');
  }
  checkDefaults(textOf(settings, 'array_nulls'), textOf(settings, 'isolation'));
}

/** What a role or a database may have set for all of its connections, and a pool can set otherwise for its own. */
function checkDefaults(arrayNulls: string, isolation: string): void {
  if (arrayNulls === 'off') {
    throw new ConfigurationError(
      'store',
      'On these connections array_nulls = off, so PostgreSQL would take every callback for evidence. Set array_nulls = ' +
        "on for the database and the role, or for the pool alone: new Pool({ options: '-c array_nulls=on' }).",
    );
  }
  if (isolation !== 'read committed') {
    throw new ConfigurationError(
      'store',
      `On these connections default_transaction_isolation = ${isolation}, under which statements of the inbox would ` +
        'fail, or miss each other. Set read committed for the database and the role, or for the pool alone: ' +
        "new Pool({ options: '-c default_transaction_isolation=read\\\\ committed' }).",
    );
  }
}
