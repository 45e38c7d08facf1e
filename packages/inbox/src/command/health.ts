import { ConfigurationError } from '@payment-service/core';
import { printableLines } from '@payment-service/core/internal';
import { deliveriesIn, spoolOwner } from '../intake/spool-folder.ts';
import { type InboxHealth, LATE_SECONDS } from '../operator/health.ts';
import { messageOf } from './failure.ts';
import { NoInboxError, withInbox } from './open-inbox.ts';
import { type AddVerb, option, SPOOL, upTo, verb } from './verbs.ts';

type Health = Pick<InboxHealth, 'ok' | 'problems'> & Partial<InboxHealth>;

const SECONDS = upTo(100_000_000);

/** `health`, for probes. */
export const HEALTH: AddVerb = verb<{ maxPendingAge: number; spool?: string }, Health>({
  name: 'health',
  about: 'keeps a callback and rolls it back, for a probe; exit code 3 if that failed or work is late',
  options: [
    option('--max-pending-age <seconds>', 'how long a due transition may wait', SECONDS, LATE_SECONDS),
    SPOOL,
  ],
  async run({ maxPendingAge, spool }, open) {
    const examined = withInbox(open, async (inbox, { settings, store, spoolPath }) => {
      const { problems, oldestDueSeconds } = await inbox.health({ maxPendingAgeSeconds: maxPendingAge });
      // The inbox of this command has no spool, so the folder is counted without writing to it.
      const [path, owner] = [spool ?? spoolPath, spoolOwner(settings.account, store)];
      const deliveries = path === undefined ? undefined : await deliveriesIn(path);
      const spooled = deliveries?.filter((each) => each.owner === owner).length;
      const all = spooled ? [...problems, 'spool_not_drained' as const] : problems;
      return { problems: all, oldestDueSeconds, spooled };
    });
    const found = await examined.catch(unavailable);
    return { ok: found.problems.length === 0, ...found };
  },
  format: ({ ok, problems }) => (ok ? 'ok' : `${problems.join('\n')}\n'doctor' says more.`),
  needsPerson: ({ ok }) => !ok,
});

/** For a probe, a database that does not answer is a result. A mistake in the command's options is an error. */
function unavailable(error: unknown): Pick<Health, 'problems'> {
  if (error instanceof NoInboxError || error instanceof ConfigurationError) throw error;
  console.error(`payment-service-inbox: ${printableLines(messageOf(error))}`);
  return { problems: ['store_unavailable'] };
}
