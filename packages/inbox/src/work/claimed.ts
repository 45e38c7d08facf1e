import { type UnsignedFields, unsignedFields } from '@payment-service/core';
import type { Statements } from '../store/statements.ts';
import { textOf } from '../store/store.ts';

/** The unsigned fields of a kept body. Nothing when the body is not an object any more that JSON can write. */
export async function readClaimed<Tx>(
  statements: Statements<Tx>,
  { id, digest }: { readonly id: number; readonly digest: string },
  tx: Tx,
): Promise<UnsignedFields> {
  const [row] = await statements.run('read_content', [id, digest], tx);
  if (row === undefined || row['content'] === null) return Object.freeze({});
  return unsignedFields(textOf(row, 'content'));
}
