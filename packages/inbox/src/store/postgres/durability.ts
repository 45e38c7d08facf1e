import { ConfigurationError } from '@payment-service/core';
import { failureText } from '../../reporting/failure-text.ts';
import { type Row, textOf } from '../store.ts';

const DECIDING = ['fsync', 'full_page_writes', 'synchronous_commit'];
const SETTINGS = `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
  current_setting('synchronous_commit') as synchronous_commit, current_setting('server_encoding') as encoding,
  current_setting('synchronous_standby_names') as names`;
/** Visible to every role, unlike the state of a standby. A subscriber of logical replication is not a standby. */
const STANDBYS = `select count(*) as standbys from pg_stat_replication r
  where not exists (select 1 from pg_replication_slots s where s.active_pid = r.pid and s.slot_type = 'logical')`;
/** Insufficient privilege, undefined view, undefined function, unsupported feature. */
const UNREADABLE = /[ (](?:42501|42P01|42883|0A000)\b/;

/** What decides whether PostgreSQL keeps what it acknowledges. */
export interface Durability {
  /** The names of settings that are off although it needs them. */
  readonly off: readonly string[];
  readonly encoding: string;
  /** The setting synchronous_commit. */
  readonly commit: string;
  /** The setting synchronous_standby_names. */
  readonly synchronousNames: string;
  /** How many standbys are connected; also 0 if the role cannot see that. */
  readonly standbys: number;
  /** Standbys are connected, but no commit waits for one of them. */
  readonly isAsynchronous: boolean;
}

export async function readDurability(query: (text: string) => Promise<readonly Row[]>): Promise<Durability> {
  const [settings = {}] = await query(SETTINGS);
  // Some roles, and some services that speak PostgreSQL's protocol, cannot read this. Any other failure could hide a standby.
  const [row = {}] = await query(STANDBYS).catch((error: unknown) => {
    if (!UNREADABLE.test(failureText(error))) throw error;
    return [];
  });
  const [commit, synchronousNames] = [textOf(settings, 'synchronous_commit'), textOf(settings, 'names')];
  const standbys = Number(row['standbys'] ?? 0);
  return {
    off: DECIDING.filter((name) => textOf(settings, name) === 'off'),
    encoding: textOf(settings, 'encoding'),
    ...{ commit, synchronousNames, standbys },
    isAsynchronous: standbys > 0 && (synchronousNames === '' || commit === 'local'),
  };
}

/**
 * Warns of a PostgreSQL that would lose what it acknowledged together with its machine, although there is a standby.
 *
 * @throws {ConfigurationError} For one that would not keep it at all; names the setting to change.
 */
export async function checkDurability(query: (text: string) => Promise<readonly Row[]>): Promise<void> {
  const { off, encoding, isAsynchronous } = await readDurability(query);
  for (const name of off) {
    throw new ConfigurationError(
      'store',
      `This PostgreSQL runs with ${name} = off, so what it acknowledges can be lost when its machine stops. Set ` +
        `${name} = on for the server, the database and the role.`,
    );
  }
  if (encoding !== 'UTF8') {
    throw new ConfigurationError('store', 'The inbox needs a PostgreSQL database with the encoding UTF8.');
  }
  if (isAsynchronous) {
    process.emitWarning(
      'No standby of this PostgreSQL is synchronous. When the primary is lost and a standby takes over, callbacks ' +
        'acknowledged shortly before are lost. Name a standby in synchronous_standby_names, with synchronous_commit = on.',
      { type: 'PaymentInboxWarning', code: 'ASYNCHRONOUS_STANDBY' },
    );
  }
}
