import { existsSync } from 'node:fs';
import { ConfigurationError } from '@payment-service/core';
import { printableLines } from '@payment-service/core/internal';
import { deliveriesIn, spoolFile, spoolOwner } from '../intake/spool-file.ts';
import type { HealthProblem, InboxHealth } from '../operator/health.ts';
import type { PaymentCounts } from '../operator/payments/list-payments.ts';
import { countText } from '../words.ts';
import { LATE_SECONDS } from '../work/due-checks.ts';
import { explained, messageOf } from './failure.ts';
import { NoInboxError, type OpenStore, withInbox, withStore } from './open-inbox.ts';
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
    // It is on this machine, so it can be read during an outage of the database.
    const [spooled, ofSpool] = await withStore(open, (opened) => examineSpool(opened, spool));
    const examined = withInbox(open, async (inbox) => {
      const { problems, oldestDueSeconds } = await inbox.health({ maxPendingAgeSeconds: maxPendingAge });
      const { needed, overdue } = await inbox.counts();
      return { problems, oldestDueSeconds, needed, overdue };
    });
    const { problems: ofStore, ...found } = await examined.catch(unavailable);
    const problems = [...ofStore, ...ofSpool];
    return { ok: problems.length === 0, problems, ...found, spooled };
  },
  format: ({ ok, problems, needed, overdue, spooled = 0 }) => {
    const heading = ok ? 'ok' : `${problems.join('\n')}\nRun 'doctor' for details.`;
    const waiting = spooled === 0 ? '' : `\nCallbacks in the spool: ${countText(spooled)}.`;
    if (needed === undefined || overdue === undefined)
      return `${heading}\nThe payments could not be counted.${waiting}`;
    return `${heading}\nPayments that need a person: ${countText(needed)}; overdue: ${countText(overdue)}.${waiting}`;
  },
  needsPerson: ({ ok }) => !ok,
});

/** How many callbacks wait in the spool, and what is wrong with it. */
async function examineSpool<Tx>(
  opened: OpenStore<Tx>,
  path: string | undefined,
): Promise<[spooled: number | undefined, problems: HealthProblem[]]> {
  const spooled = await spooledHere(opened, path);
  if (spooled === undefined)
    return [spooled, (path ?? opened.spoolPath) === undefined ? [] : ['spool_unavailable']];
  return [spooled, spooled === 0 ? [] : ['spool_not_drained']];
}

/**
 * Undefined if there is none, or it cannot be read. The inbox of this command has no spool, so the file is read without writing
 * to it.
 */
export async function spooledHere<Tx>(
  { settings, store, spoolPath }: OpenStore<Tx>,
  given: string | undefined,
): Promise<number | undefined> {
  const owner = spoolOwner(settings.account, store);
  const path = given ?? spoolPath;
  if (path === undefined) return undefined;
  // A program creates it when it first needs it, so that it may be missing, or misspelled.
  if (given !== undefined && !existsSync(given))
    tell(`There is no folder ${given}. If a callback was ever spooled, --spool is misspelled.`);
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
