/**
 * Reconciles a statement of so many bytes, which is made as it is read, and prints its report and its peak of memory. With
 * "keep" it also keeps every row, which needs more memory than the process may have.
 */
import { createInbox, readStatement, type StatementRow, sqlite } from '../../../src/index.ts';

const [path = '', bytes = '0', keep] = process.argv.slice(2);
const inbox = createInbox({ store: sqlite(path) });
await inbox.ready();
for (const merchant_reference of ['ORD-0', 'ORD-1'])
  await inbox.expect({ merchant_reference, currency: 'UGX', amount: '1250.5' });

async function* pieces(): AsyncGenerator<Uint8Array> {
  const note = 'mobile money, Kampala: '.repeat(24);
  yield Buffer.from('Account;12345\n\nReference;Id;State;Note;Amount\n');
  for (let [length, row] = [0, 0]; length < Number(bytes); ) {
    let piece = '';
    for (; piece.length < 65_536; row++) piece += `ORD-${row};INT-${row};Paid;"${note}";1.250,50\n`;
    yield Buffer.from(piece);
    length += piece.length;
  }
  yield Buffer.from('Total;;;;9.999.999,00\n');
}

const map = { merchant_reference: 'Reference', internal_reference: 'Id', transaction_status: 'State' };
const format = {
  ...{ map: { ...map, amount: 'Amount' }, set: { transaction_type: 'COLLECTION', currency: 'UGX' } },
  ...({ paid: 'Paid', decimal: 'comma' } as const),
};
const kept: StatementRow[] = [];
async function* watched(): AsyncGenerator<StatementRow> {
  for await (const row of (await readStatement(pieces(), format)).rows) {
    if (keep === 'keep') kept.push({ ...row, event: JSON.stringify(Array(40).fill(row)) });
    yield row;
  }
}
const day = 86_400_000;
const period = { from: new Date(Date.now() - day), to: new Date(Date.now() + day) };
const report = await inbox.reconcileStatement(watched(), { ...period, by: 'dana', note: 'n', dryRun: false });
const { counts, applied } = report;
await inbox.close();
const { paid_without_callback, not_expected, malformed } = counts;
console.log(JSON.stringify({ applied, paid_without_callback, not_expected, malformed }));
console.error(`peak of ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`);
