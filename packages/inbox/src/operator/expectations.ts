import { checkOptions } from '@payment-service/core/internal';
import { referenceKey } from '../records.ts';
import { dateOf } from '../store/store.ts';
import { findArchived } from '../work/verdict/archived.ts';
import type { KnownExpectation } from '../work/verdict/evaluate.ts';
import { expectationIn, jsonTextOf } from '../work/verdict/stored.ts';
import type { OperatorContext } from './views.ts';

/** What is expected under a reference. */
export interface KnownPayment extends KnownExpectation {
  readonly transaction_type: string;
  readonly deadline: Date | undefined;
}

/** @throws {ConfigurationError} If the reference is not a string. */
export async function findExpectations<Tx>(
  { statements, settings: { account } }: OperatorContext<Tx>,
  merchant_reference: string,
): Promise<KnownPayment[]> {
  checkOptions(
    'expectations()',
    { merchant_reference },
    {
      merchant_reference: [(value) => typeof value === 'string', 'a string'],
    },
  );
  const rows = await statements.run('find_expectations', [
    referenceKey(merchant_reference, account),
    account,
  ]);
  const known = rows.flatMap((row) => {
    const expectation = expectationIn(row);
    const deadline = row['deadline_at'] === null ? undefined : dateOf(row, 'deadline_at');
    return expectation === undefined
      ? []
      : [{ ...expectation, transaction_type: jsonTextOf(row, 'transaction_type'), deadline }];
  });
  const archived = await findArchived(statements, { keys: { merchant_reference }, account });
  const old = archived.flatMap(({ expectation, signed: { transaction_type } }) =>
    expectation === undefined ? [] : [{ ...expectation, transaction_type, deadline: undefined }],
  );
  return [...known, ...old];
}
