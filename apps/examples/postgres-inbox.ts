/**
 * A merchant's server with everything: PostgreSQL, the inbox, its console, and Express 5. (Express 4 catches no rejections.)
 * `DATABASE_URL=… SIGNING_KEY=… ADMIN_PASSWORD=… node postgres-inbox.ts`
 */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createClient, PaymentServiceError } from '@payment-service/core/client';
import { paymentCallbacks, paymentRedirects } from '@payment-service/express';
import { createInbox, postgres } from '@payment-service/inbox';
import { inboxConsole, nodeListener } from '@payment-service/inbox/console';
import express from 'express';
import pg from 'pg';

const { DATABASE_URL, ADMIN_PASSWORD = '' } = process.env;
const { SIGNING_KEY: signingKey, PUBLIC_KEY: publicKey, SECRET_KEY: secretKey } = process.env;
if (ADMIN_PASSWORD.length < 12) throw new Error('Set ADMIN_PASSWORD to at least 12 characters.');

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 20, connectionTimeoutMillis: 5000 });
pool.on('error', (error) => console.error('A connection was lost:', error.message));
await pool.query(
  `create table if not exists orders
     (reference text primary key, form text unique, currency text, price text, paid text)`,
);

// The spool keeps callbacks while the database is unavailable. In production, on a disk that outlives the container.
const inbox = createInbox({ store: postgres(pool), spool: 'callback-spool' });
await inbox.ready();
inbox.handle('paid', async ({ tx, payment: { merchant_reference, settled, replaced } }) => {
  // Its effects through tx are committed once, with the settlement. `settled` is your expectation, not a callback's claim.
  await tx.query('update orders set paid = $1 where reference = $2', [settled.amount, merchant_reference]);
  // An operator may have accepted another amount than the order's: see docs/guide/recipes.md.
  const part = replaced.length > 0 ? ', which is not what was expected at first' : '';
  console.log(`${merchant_reference} is paid: ${settled.amount} ${settled.currency}${part}`);
});
// Any other status, until you know what it means and say so with `statuses`: see docs/guide/recipes.md.
inbox.handle('status', ({ signed }) => console.log(signed.merchant_reference, signed.transaction_status));

const app = express();
app.use(
  '/payments/callbacks', // In production, use a path that customers cannot guess.
  paymentCallbacks({
    ...{ signingKey, publicKey, secretKey }, // Given all three, it refuses keys that are mixed up.
    ...inbox.route,
    onRefused: ({ code, hint }) => console.warn(code, hint),
  }),
);
app.use(
  '/payments/return', // Only decides where the browser goes. Only the callback says whether the order is paid.
  paymentRedirects({
    signingKey,
    onRedirect: ({ signed }) => `/orders/${encodeURIComponent(signed.merchant_reference)}`,
  }),
);

// The console, behind HTTP Basic here; in production behind your own login.
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
const login = `Basic ${Buffer.from(`admin:${ADMIN_PASSWORD}`).toString('base64')}`;
const isAdmin = (given = ''): boolean => timingSafeEqual(sha256(given), sha256(login));
app.use('/admin', (req, res, next) => {
  if (isAdmin(req.headers.authorization)) return next();
  res.set('www-authenticate', 'Basic').sendStatus(401);
});
const admin = inboxConsole(inbox, {
  basePath: '/admin/payments',
  authorize: ({ headers }) =>
    isAdmin(headers.get('authorization') ?? '') && { by: 'admin', may: ['read', 'retry', 'close'] },
});
app.use(nodeListener(admin));

app.post('/orders', async (req, res) => {
  const reference = `ORD-${randomUUID()}`; // Use a new reference for every attempt and every amount.
  const form = req.query.form ?? reference; // A random id in the address of the form: a second click sends it again.
  const [currency, price] = ['UGX', '500']; // From your catalogue.
  const deadline = new Date(Date.now() + 3_600_000);
  const earlier = await inbox.transaction(async (tx) => {
    const insert = 'insert into orders values ($1, $2, $3, $4) on conflict (form) do nothing';
    const { rowCount } = await tx.query(insert, [reference, form, currency, price]);
    if (rowCount === 0) return tx.query('select reference from orders where form = $1', [form]);
    await inbox.expect({ merchant_reference: reference, currency, amount: price, deadline }, { tx });
  });
  if (earlier) return res.json(earlier.rows[0]);
  const start = await startPayment({ reference, currency, amount: price });
  if (start === 'not started') await cancel(reference); // Otherwise it would be overdue.
  res.status(201).json({ reference, start });
});
async function cancel(reference: string): Promise<void> {
  const payment = await inbox.payment(reference);
  const act = payment?.acts.find(({ name }) => name === 'cancel');
  if (act) await inbox.act(act, { by: 'shop', note: 'It was not started.' });
}
/** The protocol does not show this request: set the path and the members that your account shows. See docs/guide/starting-a-payment.md. */
async function startPayment(body: object): Promise<'started' | 'not started' | 'pending'> {
  const { START_PATH: path, BASE_URL: baseUrl } = process.env;
  if (path === undefined) return 'pending';
  try {
    const client = createClient({ baseUrl, publicKey, secretKey });
    await client.request({ method: 'POST', path, secretKey: true, body });
    return 'started';
  } catch (error) {
    console.error(error); // Why it was refused, or what is not known.
    // If it may have arrived, the order stays open until a callback or an overdue notice, and is never started again.
    const isNotStarted = error instanceof PaymentServiceError && 'sent' in error && error.sent !== 'unknown';
    return isNotStarted ? 'not started' : 'pending';
  }
}
app.get('/orders/:reference', async (req, res) => {
  // One sentence for every state, which never says more than is known.
  const payment = await inbox.payment(req.params.reference);
  res.type('text').send(payment?.advice.say ?? 'There is no such order.');
});
app.get('/healthz', async (_req, res) => {
  const health = await inbox.health();
  res.status(health.ok ? 200 : 503).json(health);
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
process.once('SIGTERM', async () => {
  server.close();
  await inbox.close(); // Running handlers end first.
  server.closeAllConnections(); // Open pages of the console.
  await pool.end();
});
await inbox.work(); // Until close().
