/** The merchant's web server: receives callbacks, and the merchant's expectations. Killed at any moment. */
import { flushCompileCache } from 'node:module';
import { json } from 'node:stream/consumers';
import type { Expectation } from '@payment-service/inbox';
import { serve, tellOutcome } from '../load/serve.ts';
import { answerQuestions } from '../measure/child.ts';
import type { Database } from './databases.ts';
import { withInbox } from './merchant.ts';
import { enterPhase } from './phase-log.ts';

export interface ReceiverSettings {
  readonly database: Database;
  /** The folder for callbacks while the store is unavailable; the same one after a restart. */
  readonly spool: string | undefined;
}

answerQuestions(({ database, spool }: ReceiverSettings) =>
  withInbox(database, { spool, onEvent: tellOutcome }, async (inbox) => {
    let count = 0;
    const port = await serve({
      async keep(callback) {
        count += 1;
        const id = String(count);
        enterPhase('intake', id);
        try {
          await inbox.receive(callback);
        } finally {
          enterPhase('idle', id);
        }
      },
      others: {
        async '/expectations'(request) {
          const expectations = (await json(request)) as Expectation[];
          await Promise.all(expectations.map((expectation) => inbox.expect(expectation)));
          return undefined;
        },
        '/spooled': async () => String((await inbox.stats()).spooled),
      },
      // It is up to the sender to retry what the receiver does not acknowledge.
      onError: () => undefined,
    });
    // A killed process writes no cache, so each start would strip and compile the same files again.
    flushCompileCache();
    return `http://127.0.0.1:${port}`;
  }),
);
