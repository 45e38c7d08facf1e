import { ConfigurationError } from '@payment-service/core';
import { type Row, textOf } from './store.ts';

const SETTINGS = `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
  current_setting('synchronous_commit') as synchronous_commit, current_setting('server_encoding') as encoding`;
/** Visible to every role, unlike the state of a standby. A subscriber of logical replication is none. */
const STANDBYS = `select count(*) as asynchronous from pg_stat_replication r
  where (current_setting('synchronous_standby_names') = '' or current_setting('synchronous_commit') = 'local')
    and not exists (select 1 from pg_replication_slots s where s.active_pid = r.pid and s.slot_type = 'logical')`;

/**
 * Warns of a PostgreSQL that would lose what it acknowledges with its machine, although there is a standby.
 *
 * @throws {ConfigurationError} For one that would not keep it at all; says which setting to change.
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
  if (textOf(settings, 'encoding') !== 'UTF8') {
    throw new ConfigurationError('store', 'The inbox needs a PostgreSQL database with the encoding UTF8.');
  }
  // Not every role, nor every service that speaks PostgreSQL's protocol, can tell.
  const [{ asynchronous } = { asynchronous: 0 }] = await query(STANDBYS).catch(() => []);
  if (Number(asynchronous) > 0) {
    process.emitWarning(
      'No standby of this PostgreSQL is synchronous. When the primary is lost and a standby takes over, callbacks that were ' +
        'acknowledged shortly before are gone. Name a standby in synchronous_standby_names, with synchronous_commit = on.',
      { type: 'PaymentInboxWarning', code: 'ASYNCHRONOUS_STANDBY' },
    );
  }
}
