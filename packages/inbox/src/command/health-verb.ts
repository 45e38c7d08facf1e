import { ConfigurationError } from '@payment-service/core';
import { printableLines } from '@payment-service/core/internal';
import { deliveriesIn, spoolFile, spoolOwner } from '../intake/spool-file.ts';
import type { InboxHealth } from '../operator/health.ts';
import type { PaymentCounts } from '../operator/payments/list-payments.ts';
import { countText } from '../words.ts';
import { LATE_SECONDS } from '../work/due-checks.ts';
import { explained, messageOf } from './failure.ts';
import { NoInboxError, type OpenStore, withInbox } from './open-inbox.ts';
import { type AddVerb, option, SPOOL, upTo, verb } from './verbs.ts';

type Health = Pick<InboxHealth, 'ok' | 'problems'> &
  Partial<InboxHealth & Pick<PaymentCounts, 'needed' | 'overdue'>>;

const SECONDS = upTo(100_000_000);

/** `health`, for probes. */
export const HEALTH: AddVerb = verb({
  name: 'health',
  about: 'for probes: keeps a callback and rolls it back; exit code 3 if that fails or work is late',
  options: [
    option('--max-pending-age <seconds>', 'how long a due report may wait', SECONDS, LATE_SECONDS),
    SPOOL,
  ],
  run: async ({ maxPendingAge, spool }: { maxPendingAge: number; spool?: string }, open): Promise<Health> => {
    const examined = withInbox(open, async (inbox, opened) => {
      const { problems, oldestDueSeconds } = await inbox.health({ maxPendingAgeSeconds: maxPendingAge });
      const spooled = await spooledHere(opened, spool);
      const isUnreadable = spooled === undefined && (spool ?? opened.spoolPath) !== undefined;
      const ofSpool = isUnreadable ? 'spool_unavailable' : 'spool_not_drained';
      const all = isUnreadable || spooled ? [...problems, ofSpool as typeof ofSpool] : problems;
      const { needed, overdue } = await inbox.counts();
      return { problems: all, oldestDueSeconds, spooled, needed, overdue };
    });
    const found = await examined.catch(unavailable);
    return { ok: found.problems.length === 0, ...found };
  },
  format: ({ ok, problems, needed = 0, overdue = 0 }) =>
    `${ok ? 'ok' : `${problems.join('\n')}\nRun 'doctor' for details.`}
Payments that need a person: ${countText(needed)}; overdue: ${countText(overdue)}.`,
  needsPerson: ({ ok }) => !ok,
});

/**
 * Undefined if there is none, or it cannot be read. The inbox of this command has no spool, so the file is read without writing
 * to it.
 */
export async function spooledHere<Tx>(
  { settings, store, spoolPath }: OpenStore<Tx>,
  path: string | undefined = spoolPath,
): Promise<number | undefined> {
  const owner = spoolOwner(settings.account, store);
  if (path === undefined) return undefined;
  try {
    return (await deliveriesIn(path)).filter((each) => each['owner'] === owner).length;
  } catch (error) {
    tell(`${spoolFile(path)} cannot be read: ${messageOf(error)}`);
    return undefined;
  }
}

function tell(message: string): void {
  console.error(`payment-service-inbox: ${printableLines(message)}`);
}

/** For a probe, a database that does not answer is a result. A mistake in the command's options is an error. */
function unavailable(error: unknown): Pick<Health, 'problems'> {
  if (error instanceof NoInboxError || error instanceof ConfigurationError) throw error;
  tell(explained(error));
  return { problems: ['store_unavailable'] };
}
