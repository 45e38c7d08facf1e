import { checkArgument } from '@payment-service/core/internal';
import { STRING } from '../option-rules.ts';
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
  checkArgument('expectations()', 'merchant_reference', merchant_reference, STRING);
  const key = referenceKey(merchant_reference, account);
  const known = (await statements.run('find_expectations', [key, account])).map((row) => ({
    expectation: expectationIn(row),
    transaction_type: jsonTextOf(row, 'transaction_type'),
    deadline: row['deadline_at'] === null ? undefined : dateOf(row, 'deadline_at'),
  }));
  const archived = await findArchived(statements, { keys: { merchant_reference }, account });
  const old = archived.map(({ expectation, signed: { transaction_type } }) => {
    return { expectation, transaction_type, deadline: undefined };
  });
  return [...known, ...old].flatMap(({ expectation, ...rest }) =>
    expectation === undefined ? [] : { ...expectation, ...rest },
  );
}
