/**
 * A merchant's server with everything: PostgreSQL, the inbox, its console, and Express 5. (Express 4 catches no rejections.)
 * `DATABASE_URL=… SIGNING_KEY=… ADMIN_PASSWORD=… node postgres-inbox.ts`
 */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { ApiError, createClient } from '@payment-service/core/client';
import { paymentCallbacks, paymentRedirects } from '@payment-service/express';
import { createInbox, postgres } from '@payment-service/inbox';
import { inboxConsole, nodeListener } from '@payment-service/inbox/console';
import express from 'express';
import pg from 'pg';

const { DATABASE_URL, SIGNING_KEY: signingKey, ADMIN_PASSWORD = '' } = process.env;
if (ADMIN_PASSWORD.length < 12) throw new Error('Set ADMIN_PASSWORD to at least 12 characters.');

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 20, connectionTimeoutMillis: 5000 });
pool.on('error', (error) => console.error('A connection was lost:', error.message));
await pool.query(
  'create table if not exists orders (reference text primary key, currency text, price text, paid text)',
);

// The spool keeps callbacks while the database is unavailable. In production, on a disk that outlives the container.
const inbox = createInbox({ store: postgres(pool), spool: 'callback-spool' });
await inbox.ready();
inbox.handle(async ({ tx, signed, settled }) => {
  // Runs exactly once, in the transaction that settles the callback. `settled` is your expectation, not a callback's claim.
  await tx.query('update orders set paid = $1 where reference = $2', [
    settled.amount,
    signed.merchant_reference,
  ]);
  console.log(signed.merchant_reference, 'is paid:', settled.amount, settled.currency);
});
// Any other status. One that follows COMPLETED waits for an operator: see docs/guide/recipes.md.
inbox.handle('status', ({ signed }) => console.log(signed.merchant_reference, signed.transaction_status));

const app = express();
app.use(
  '/payments/callbacks', // In production, use a path that customers cannot guess.
  paymentCallbacks({
    signingKey,
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

app.post('/orders', async (_req, res) => {
  const reference = `ORD-${randomUUID()}`; // Use a new reference for every attempt and every amount.
  const [currency, price] = ['UGX', '500']; // From your catalogue.
  const deadline = new Date(Date.now() + 3_600_000);
  await inbox.transaction(async (tx) => {
    await tx.query('insert into orders values ($1, $2, $3)', [reference, currency, price]);
    await inbox.expect({ merchant_reference: reference, currency, amount: price, deadline }, { tx });
  });
  res.status(201).json({ reference, start: await startPayment({ reference, currency, amount: price }) });
});
/** The protocol does not show this request: set the path and the members that your account shows. See docs/guide/starting-a-payment.md. */
async function startPayment(body: object): Promise<'started' | 'not started' | 'pending'> {
  const { START_PATH: path, BASE_URL: baseUrl, PUBLIC_KEY: publicKey, SECRET_KEY: secretKey } = process.env;
  if (path === undefined) return 'pending';
  try {
    const client = createClient({ baseUrl, publicKey, secretKey });
    await client.request({ method: 'POST', path, secretKey: true, body });
    return 'started';
  } catch (error) {
    // If it may have arrived, the order stays open until a callback or an overdue notice, and is never started again.
    return error instanceof ApiError && error.sent !== 'unknown' ? 'not started' : 'pending';
  }
}
app.get('/orders/:reference', async (req, res) => {
  const { rows } = await pool.query('select paid from orders where reference = $1', [req.params.reference]);
  res.type('text').send(rows[0]?.paid ? 'Paid, thank you.' : 'Waiting for the payment.');
});
app.get('/healthz', async (_req, res) => {
  const health = await inbox.health();
  res.status(health.ok ? 200 : 503).json(health);
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
const stop = new AbortController();
process.once('SIGTERM', () => {
  server.close();
  stop.abort();
});
await inbox.work({ signal: stop.signal }); // Until SIGTERM; running handlers end first.
await inbox.close();
server.closeAllConnections(); // Open pages of the console.
await pool.end();
