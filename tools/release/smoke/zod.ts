import assert from 'node:assert/strict';
import { envelope, payoutBank } from '@payment-service/core/zod';
import * as z from 'zod';
import * as mini from 'zod/mini';

/** The schemas of the packed core, in those of the project: of zod and of zod/mini. */
const bank = { bank_code: 'EXB', bank_name: 'Example Bank', is_active: true };
for (const list of [z.array(payoutBank), mini.array(payoutBank)]) {
  assert.deepEqual(list.parse([bank]), [bank]);
  assert.throws(() => list.parse([{ ...bank, is_active: 'yes' }]), /is_active/);
}
const { data } = envelope(z.object({ banks: z.array(payoutBank) })).parse({
  ...{ code: 200, status: 'success', message: 'Done' },
  data: { banks: [bank] },
});
const [name]: readonly string[] = data.banks.map(({ bank_name }) => bank_name);
assert.equal(name, 'Example Bank');
// @ts-expect-error: a bank has a name, which is a string.
data.banks.map(({ bank_name }): number => bank_name);
console.log('schemas of zod');
