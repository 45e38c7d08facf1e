import { stat } from 'node:fs/promises';
import { deliveriesIn, spoolFile, spoolFiles } from '../../intake/spool-file.ts';
import { countPayments } from '../../operator/payments/list-payments.ts';
import { type Finding, notice, problem } from '../../reporting/finding.ts';
import { openToOthers } from '../../store/own-files.ts';
import { spoolPath } from '../../store/sqlite/database-path.ts';
import { numberOf, type Row, textOf } from '../../store/store.ts';
import { signedIn } from '../../verdict/stored-values.ts';
import { countText } from '../../words.ts';
import { CHANGED_NOTHING } from '../../work/attempt/apply.ts';
import { checkDue, readDue } from '../../work/due-checks.ts';
import { messageOf } from '../failure.ts';
import type { OpenStore } from '../open-inbox.ts';

/** Checks of the tables' contents, on both engines. */
export async function* checkInbox<Tx>(opened: OpenStore<Tx>): AsyncGenerator<Finding> {
  const { statements, settings } = opened;
  const accounts = (await statements.run('list_accounts', [])).map((row) => textOf(row, 'account'));
  const { needed, overdue } = await countPayments(opened);
  if (accounts.length > 0 && !accounts.includes(settings.account))
    yield notice`account: No callback of the account '${settings.account}' is kept here, but callbacks of '${accounts.join("', '")}' are.
        Each command looks at one account only, doctor included.
        Name your program's account with --account.`;
  yield* checkDue(await readDue(opened));
  const [idle] = await statements.run('count_idle_handlers', [settings.account, CHANGED_NOTHING]);
  if (idle !== undefined && numberOf(idle, 'count') > 0)
    yield problem`handler: Of the last 200 settled reports, ${numberOf(idle, 'count')} were settled by a handler that changed nothing in its transaction.
        These payments are settled here, and probably nowhere else: no order is paid.
        In the 'paid' handler, look for a query that is not awaited, a statement that matches no row, or a connection other than tx. Then 'apply-again' these payments.`;
  const untaken = Map.groupBy(
    (await statements.run('list_untaken', [settings.account])).map((row) => signedIn(row)),
    ({ transaction_type, transaction_status }) => `${transaction_type} with the status ${transaction_status}`,
  );
  const most = [...untaken].sort(([, one], [, other]) => other.length - one.length).slice(0, 10);
  if (most.length > 0)
    yield problem`handlers: No handler accepts reports of ${most.map(([name, reports]) => `${name} (${reports.length})`).join(', ')}.
        They are kept, and nothing happens to their payments.
        Add a handler with handle(), or give the status a meaning in the option statuses. Compare the spelling: it must match exactly. Then retry them.`;
  if (needed + overdue > 0)
    yield problem`waiting: Payments that need a person: ${countText(needed)}; overdue: ${countText(overdue)}.
        None of these is decided until a person looks at it.
        List them with 'payments --needed' and 'payments --state overdue', and look at each with 'payment'.`;
}

/** A receiver stores the contents of its spool every few seconds. */
const SPOOL_LATE_MS = 60_000;

/**
 * Reads the file, which is created when it is needed, and never writes to it, since it belongs to the receiver.
 *
 * @throws {ConfigurationError} For a folder on a network file system, as far as it can be detected.
 */
export async function* checkSpool(path: string, owner: string): AsyncGenerator<Finding> {
  const folder = await stat(spoolPath(path)).catch(() => undefined);
  if (folder?.isDirectory() === false)
    yield problem`spool: ${path} is not a folder.
        While the database is unavailable, callbacks are answered with 429.
        Move the file, or set spool to another path.`;
  const file = spoolFile(path);
  let deliveries: readonly Row[] = [];
  try {
    deliveries = await deliveriesIn(path);
  } catch (error) {
    yield problem`spool: ${file} cannot be read: ${messageOf(error)}
        Acknowledged callbacks may be in it, and are not stored. While the database is unavailable, callbacks are answered with 429.
        Run doctor as the user of your program. If the file is damaged, move it away with its -wal file and keep both: your program creates a new one. Recover the callbacks with '.recover' of the program sqlite3, or ask the service for the transactions of that time.`;
  }
  const refused = deliveries.filter((row) => row['is_refused'] === 1);
  const late = deliveries.filter(
    (row) => row['is_refused'] === 0 && Date.now() - numberOf(row, 'kept_at') > SPOOL_LATE_MS,
  );
  const others = late.filter((row) => row['owner'] !== owner).length;
  const oldest = Math.min(...late.map((row) => numberOf(row, 'kept_at')));
  const minutes = Math.floor((Date.now() - oldest) / SPOOL_LATE_MS);
  if (late.length > 0)
    yield problem`spool: ${late.length} callbacks are in ${file}, the oldest for ${minutes} minutes; of another account, schema or database: ${others}.
        They were acknowledged and are not in the database: the service does not repeat them, and none is applied.
        Start the program that receives callbacks, on this machine and with this spool, and give paymentCallbacks() the options of inbox.route: it stores them. Do not delete the file.`;
  if (refused.length > 0)
    yield problem`spool: ${refused.length} callbacks in ${file} were refused.
        They are damaged, or no signing key of your program verifies them, so nothing is applied from them. Another program may have written them.
        If a key was removed or is past its notAfter, add it to signingKey again and restart your program. Otherwise find out what wrote them, copy the file, and ask the service for the transactions of that time. When each is accounted for, remove them: delete from delivery where is_refused = 1.`;
}

/** Reads the modes of the database's files and of the spool, and changes none. */
export async function* checkFiles(
  files: readonly string[],
  spool: string | undefined,
): AsyncGenerator<Finding> {
  const open = openToOthers([...files, ...(spool === undefined ? [] : spoolFiles(spool))]);
  const [first = ''] = open;
  if (open.length > 0)
    yield problem`files: Other users of this machine can use ${first}${open.length > 1 ? ` and ${open.length - 1} more files` : ''}.
        These files contain what callbacks say about payers: names, phone numbers, amounts.
        Start your program, which corrects the modes of its own files. If the finding remains, run chmod 600 on them.`;
}
