/** A worker: the handler ends the process for the reference POISON, and credits the others. */
import { openInbox } from './open-inbox.ts';

const [engine, address = '', schema, placeholder = '$1'] = process.argv.slice(2);
const inbox = openInbox(engine, address, schema);
inbox.handle('paid', async ({ tx, signed, payment: { settled } }) => {
  if (signed.merchant_reference === 'POISON') process.kill(process.pid, 'SIGKILL');
  const values = placeholder === '?' ? '?, ?' : '$1, $2';
  await tx.query(`insert into credit values (${values})`, [signed.merchant_reference, settled.amount]);
  // Long enough to be interrupted by the concurrent POISON.
  await new Promise((resolve) => setTimeout(resolve, engine === 'postgres' ? 250 : 20));
});
await inbox.work({ signal: new AbortController().signal, pollMs: 10 });
