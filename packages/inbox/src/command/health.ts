import { ConfigurationError } from '@payment-service/core';
import { printableLines } from '@payment-service/core/receive';
import type { InboxHealth } from '../operator/health.ts';
import { messageOf } from './failure.ts';
import { NoInboxError } from './open-inbox.ts';
import { upTo, type Verbs } from './verbs.ts';

interface HealthOptions {
  readonly maxPendingAge: number;
  readonly spool?: string;
}

type Health = Pick<InboxHealth, 'problems'> & Partial<InboxHealth>;

/** `health`, for probes. */
export function addHealth(verbs: Verbs): void {
  verbs.program
    .command('health')
    .description(
      'keeps a callback and rolls it back, for a probe; exit code 3 if that failed or work is late',
    )
    .option('--max-pending-age <seconds>', 'how long what is due may wait', upTo(100_000_000), 60)
    .option('--spool <path>', 'the folder of the option spool; beside a SQLite file it is found')
    .action(async ({ maxPendingAge, spool }: HealthOptions) => {
      const examined = verbs.use(async (inbox): Promise<Health> => {
        const { problems, oldestDueSeconds } = await inbox.health({ maxPendingAgeSeconds: maxPendingAge });
        // The inbox of this command has no spool: it is counted without a write into it.
        const spooled = await inbox.spooled(spool);
        return {
          problems: spooled ? [...problems, 'spool_not_drained'] : problems,
          oldestDueSeconds,
          spooled,
        };
      });
      const health = await examined.catch(unavailable);
      const ok = health.problems.length === 0;
      verbs.tell({ ok, ...health }, () =>
        console.log(ok ? 'ok' : `${health.problems.join('\n')}\n'doctor' says more.`),
      );
      verbs.needsAttention(!ok);
    });
}

/** For a probe, a database that does not answer is a result. What must be changed in the command's options is an error. */
function unavailable(error: unknown): Health {
  if (error instanceof NoInboxError || error instanceof ConfigurationError) throw error;
  console.error(`payment-service-inbox: ${printableLines(messageOf(error))}`);
  return { problems: ['store_unavailable'] };
}
