import { randomUUID } from 'node:crypto';
import { unsignedFields } from '@payment-service/core/internal';
import { sumOfProducts } from '@payment-service/core/reconcile';
import { subjectKey } from '../../delivery/stored-delivery.ts';
import { backoff } from '../../options.ts';
import { failureCode } from '../../reporting/events.ts';
import { codesOf } from '../../reporting/failure-text.ts';
import { warn } from '../../reporting/problems.ts';
import type { Statements } from '../../store/statements.ts';
import { optionalText, TransactionEnded } from '../../store/store.ts';
import { TimedOut, within } from '../../time.ts';
import type { CaseFile } from '../../verdict/case-file.ts';
import type { ExpectedMoney, Verdict } from '../../verdict/evaluate.ts';
import { lockPayment, restate } from '../../verdict/restate.ts';
import type { Afterwards, Ended, Started, Turn, WorkContext } from './attempt-stages.ts';
import type { Handler } from './handlers.ts';

interface Application<Tx> extends Extract<Verdict, { kind: 'apply' }> {
  readonly file: CaseFile;
  readonly handler: Handler<Tx> | undefined;
}

/** Runs the handler and settles in its transaction. */
export async function apply<Tx>(
  started: Started,
  { file, handler, settled: expected, digest, isContradicted }: Application<Tx>,
  { statements, settings, takeNext }: WorkContext<Tx> & Turn,
  tx: Tx,
): Promise<Afterwards> {
  const { id, attempts, startId } = started;
  const { transitionId, signed } = file;
  // A body whose content was removed, or cannot be opened, claims nothing.
  const content = file.bodies.length > 1 ? await readContent(statements, { id, digest }, tx) : file.content;
  const claimed = unsignedFields(settings.bodyContent.open(content, { transitionId, digest }) ?? '');
  const { merchant_reference, transaction_type } = signed;
  const { expectation } = file;
  const paid = expected ?? (expectation?.settledBy === undefined ? undefined : expectation);
  const handled = Object.freeze({
    ...{ merchant_reference, transaction_type },
    expected: expectation && moneyOf(expectation),
    settled: paid && Object.freeze({ currency: paid.currency, amount: paid.amount }),
    replaced: expectation?.replaced ?? [],
    order: expectation?.order && {
      ...expectation.order,
      paid:
        expected &&
        sumOfProducts([
          [file.orderPaid, 1],
          [expected.amount, 1],
        ]),
    },
  });
  const timeout = new AbortController();
  const { signal } = timeout;
  const input = Object.freeze({
    ...{ tx, payment: handled, signed, claimed, attempt: attempts, id: transitionId, signal },
  });
  const isWatched = handler !== undefined && handler.watched > 0;
  const before = isWatched ? await countChanges(statements, tx) : undefined;
  const running = Promise.resolve(input).then(handler?.run);
  try {
    await within(settings.handlerTimeoutMs, running, 'The handler did not settle within handlerTimeoutMs.');
  } catch (error) {
    if (error instanceof TimedOut) timeout.abort(error);
    // Its effects may be committed although it failed, so it must not run again.
    const own = within(settings.storeTimeoutMs, isOwn(statements, startId, tx));
    if (!(await own.catch(() => true))) throw new TransactionEnded({ cause: error });
    throw error;
  }
  const isNothing = before !== undefined && before === (await countChanges(statements, tx));
  // As long as it changes nothing, each of its payments says so.
  if (isWatched && !isNothing) handler.watched -= 1;
  // Their conditions make an effect happen once: a second attempt, on any machine and after any crash, finds them false, and
  // its effects are rolled back.
  const payment = { ...signed, account: settings.account };
  if (expected === undefined && file.expectation?.settledBy === undefined) {
    const row = await lockPayment(statements, payment, tx);
    if (row['settled_by'] !== null) throw changed();
  }
  const appliedAs = expected === undefined ? settings.statuses[signed.transaction_status] : undefined;
  if (expected === undefined || file.isNeeded) {
    const isPayment = expected !== undefined;
    const transaction = subjectKey(signed.internal_reference, settings.account);
    const report = { transitionId, appliedAs, place: file.place, isPayment, subjectKey: transaction };
    await restate(statements, payment, tx, report);
  }
  // After a failure, it does not risk another one just to start the next transition.
  const taken = attempts === 1 ? takeNext?.() : undefined;
  const next = taken && { ...taken, startId: randomUUID() };
  if (next !== undefined) started.next = next;
  const settling = {
    ...{ id, start_id: startId, digest, place: file.place, transition_id: transitionId },
    ...{ reference_key: file.referenceKey, transaction_type: JSON.stringify(signed.transaction_type) },
    ...(expected && moneyOf(expected)),
    applied_as: appliedAs,
    last_error: isNothing ? CHANGED_NOTHING : undefined,
    next: next && {
      ...{ id: next.id, next_at: next.nextAt, attempts: next.attempts, start_id: next.startId },
      ...{ subject_key: next.subjectKey, busy_ms: backoff(next.attempts + 1, settings) },
    },
  };
  const event = { name: 'transition.settled', transitionId, state: 'settled', attempt: attempts } as const;
  const tell = (durationMs: number): Ended => {
    settings.emit({ ...event, contradicted: isContradicted, durationMs });
    if (isNothing && handler?.isTold === false) {
      handler.isTold = true;
      warn(settings.report, 'handler_changed_nothing', changedNothing(handler.label));
    }
    return { outcome: 'settled' };
  };
  started.settled = tell;
  const [row] = await statements.run('settle', [JSON.stringify(settling)], tx).catch((error: unknown) => {
    throw refusalIn(error);
  });
  if (row === undefined) throw changed();
  const isBegun = next !== undefined && Number(row['begun']) > 0;
  const begun = isBegun ? { startId: next.startId, lastError: optionalText(row, 'begun_error') } : undefined;
  return (durationMs) => ({ ...tell(durationMs), begun });
}

/** Stored with the report, and shown on the page of its payment. */
export const CHANGED_NOTHING = 'The handler changed nothing in its transaction.';

function changedNothing(label: string): string {
  return (
    `The handler for ${label} ended without an error, and its transaction changed nothing: the payment is settled here, and ` +
    'probably nowhere else. Look for a query that is not awaited, a statement that matches no row, or a connection other than ' +
    "tx. If it really writes nothing, say so: handle('paid', fn, { changesNothing: true })."
  );
}

/** Grows with every row that the transaction changes; a statement that matches no row changes none. */
async function countChanges<Tx>(statements: Statements<Tx>, tx: Tx): Promise<string | undefined> {
  const [row = {}] = await statements.run('count_changes', [], tx);
  return row['changes'] === null ? undefined : String(row['changes']);
}

const moneyOf = ({ currency, amount, compare }: ExpectedMoney): ExpectedMoney =>
  Object.freeze({ currency, amount, compare });

function changed(): Error {
  return new Error(
    'The expectation or the state of this transition changed while its handler ran, so the effects of the handler were rolled back. A ' +
      'handler must not change the expectation that it settles.',
  );
}

/** PostgreSQL refuses by an error, so that the COMMIT after it does not run; SQLite by no row. */
function refusalIn(error: unknown): unknown {
  const codes = codesOf(error);
  if (codes.includes('2201E')) return new TransactionEnded();
  return codes.includes('2201F') ? changed() : error;
}

async function readContent<Tx>(
  statements: Statements<Tx>,
  { id, digest }: { readonly id: number; readonly digest: string },
  tx: Tx,
): Promise<string | undefined> {
  const [body] = await statements.run('read_content', [id, digest], tx);
  return body && optionalText(body, 'content');
}

/** False if the handler has ended the transaction: on PostgreSQL its mark is gone, on SQLite the transaction itself. */
async function isOwn<Tx>(statements: Statements<Tx>, mark: string, tx: Tx): Promise<boolean> {
  const rows = await statements.run('is_own_transaction', [mark], tx).catch((error: unknown) => {
    if (failureCode(error) === 'TRANSACTION_ENDED') return [];
    throw error;
  });
  return Boolean(rows[0]?.['is_own']);
}
