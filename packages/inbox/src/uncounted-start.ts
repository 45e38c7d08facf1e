import type { CaseFile } from './case-file.ts';
import type { Session } from './session.ts';
import type { Tables } from './tables.ts';

/**
 * The store did not say whether it has counted a start, and so the handler was not started. Were the count kept, three
 * such silences would look like three handlers that ended their process.
 */
export class UncountedStart extends Error {
  readonly id: Uint8Array;
  readonly starts: number;

  constructor({ id, attempts, evaluated }: CaseFile, cause: unknown) {
    super('The store did not say whether it has counted the start of a handler.', { cause });
    this.id = id;
    this.starts = attempts + evaluated.unfinishedStarts;
  }
}

/** Brings the count back to what it was. */
export async function forgetStart(
  { id, starts }: UncountedStart,
  { session, tables }: { readonly session: Session; readonly tables: Tables },
): Promise<void> {
  await session.query(`update ${tables.start} set starts = $2 where transition_id = $1 and starts > $2`, [
    id,
    starts,
  ]);
}
