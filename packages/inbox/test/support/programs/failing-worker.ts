/** Works with the default `onError`, until the one transition is dead; each attempt fails as the letter of the argument says. */
import { openInbox } from './open-inbox.ts';

const [engine, address = '', schema, failures = ''] = process.argv.slice(2);
const retry = { attempts: failures.length, firstDelayMs: 1, longestDelayMs: 1 };
const inbox = openInbox(engine, address, schema === '-' ? undefined : schema, { retry });
inbox.handle(async function creditCustomer({ tx, attempt, signed }) {
  const letter = failures[attempt - 1] ?? '';
  if (letter === 'C') await tx.query('commit');
  if (letter === 'D') await tx.query("select 1 from 'CANARY' 'CANARY' 'CANARY'");
  const cause = new Error('the ledger is closed');
  throw Object.assign(new TypeError(`failure ${letter}`, { cause }), { detail: signed.merchant_reference });
});
const stop = new AbortController();
const working = inbox.work({ signal: stop.signal, pollMs: 5 });
while (((await inbox.stats()).states.dead ?? 0) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
stop.abort();
await working;
await inbox.close();
process.exit(0);
