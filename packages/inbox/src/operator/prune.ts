import { numberOf, textOf } from '../store/store.ts';
import type { OperatorContext } from './views.ts';

const DAY_MS = 86_400_000;

/**
 * Removes the text of old bodies, and with it the personal data, where it is no longer needed: settled, superseded,
 * resolved and unhandled transitions. What they claimed and that they came stays for ever, so that a repetition is known.
 */
export async function pruneBodies<Tx>(
  { store, statements, settings }: OperatorContext<Tx>,
  days: number,
): Promise<{ bodies: number }> {
  let count = 0;
  for (let after = 0; ; ) {
    // A chunk in a transaction of its own, so that others wait for a moment only. One more than the last, so that none is left half done.
    const old = await store.transaction(async (tx) => {
      const rows = await statements.run('find_old_bodies', [after, settings.account, days * DAY_MS], tx);
      const bodies = rows.map((row) => ({
        transition: numberOf(row, 'transition'),
        digest: textOf(row, 'digest'),
      }));
      if (bodies.length > 0) await statements.run('remove_contents', [JSON.stringify(bodies)], tx);
      return bodies;
    });
    count += old.length;
    if (old.length === 0) return { bodies: count };
    // The last transition may have more bodies than this chunk held: it is looked at again.
    after = (old.at(-1)?.transition ?? 1) - 1;
  }
}
