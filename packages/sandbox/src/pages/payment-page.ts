import { badge, html } from '@payment-service/pages';
import { type Context, Hono } from 'hono';
import { formFields, onlyMethods } from '../http/envelope.ts';
import type { Service } from '../service/service.ts';
import { amountText, toAmount } from '../state/money.ts';
import type { TransactionRecord } from '../state/records.ts';
import { money, transactionState } from './parts/cells.ts';
import { page } from './parts/page.ts';

const CALLBACK_BEFORE_REDIRECT_MS = 5000;

export const PAYMENT_PAGE = '/sandbox/pay/:id';

/** The hosted payment page, where the customer pays or declines and is sent back to the merchant. Simulated. */
export function createPaymentPage(service: Service): Hono {
  const app = new Hono();

  /** The page's address contains the internal reference, which cannot be guessed from the number alone. */
  const transactionOf = (c: Context): TransactionRecord | undefined => {
    const reference = c.req.param('id') ?? '';
    const transaction = service.store.get('transaction', reference.split('-')[1] ?? '');
    return transaction?.internalReference === reference && transaction.mode === 'page'
      ? transaction
      : undefined;
  };

  app.get(PAYMENT_PAGE, (c) => {
    const transaction = transactionOf(c);
    return transaction === undefined ? notFound(c) : show(c, service, transaction);
  });

  app.post(PAYMENT_PAGE, async (c) => {
    // Reads a form only under an address that exists, which cannot be guessed (threat A63).
    if (transactionOf(c) === undefined) return notFound(c);
    const { choice } = await formFields(c);
    // Looked up after the last wait, so that the second of two clicks sees the decision of the first.
    const transaction = transactionOf(c);
    if (transaction === undefined) return notFound(c);
    const { id, misbehave } = transaction;
    if (transaction.status === 'PENDING') {
      if (choice !== 'pay' && choice !== 'decline') return show(c, service, transaction, 400);
      service.decide(id, { outcome: choice === 'pay' ? 'completed' : 'failed' });
      const isLater = misbehave.redirect_first || misbehave.out_of_order || (misbehave.late_ms ?? 0) > 0;
      if (!isLater) await service.deliveries.tried(id, CALLBACK_BEFORE_REDIRECT_MS);
    }
    const decided = service.transaction(id);
    const location = service.redirectOf(decided);
    if (location !== undefined) {
      const redirects = [...decided.redirects, { at: service.clock.now(), location, status: 303 }];
      service.store.write((unit) => unit.put('transaction', id, { ...decided, redirects }));
    }
    return c.redirect(location ?? `/sandbox/pay/${transaction.internalReference}`, 303);
  });

  app.all(PAYMENT_PAGE, onlyMethods('GET', 'HEAD', 'POST'));
  return app;
}

function notFound(c: Context): Promise<Response> {
  return page(c, {
    status: 404,
    title: 'No such payment',
    body: html`<main class="frame narrow"><h1>No such payment</h1><p>There is no payment at this address. The sandbox may have been reset.</p></main>`,
  });
}

function show(
  c: Context,
  service: Service,
  transaction: TransactionRecord,
  status: 200 | 400 = 200,
): Promise<Response> {
  const { currency, amount, charge, chargeCustomer, providerCode } = transaction;
  const location = service.redirectOf(transaction);
  const total = amount + (chargeCustomer ? charge : 0);
  const provider = service.store.list('provider').find(({ option }) => option.provider_code === providerCode);
  const isPending = transaction.status === 'PENDING';
  const decision = isPending
    ? html`<form method="post" class="form">
<button name="choice" value="pay" class="main large">Pay ${amountText(toAmount(total, currency), currency)}</button>
<button name="choice" value="decline" class="large">Decline</button></form>`
    : html`<p>${transactionState(transaction)} ${transaction.statusMessage}</p>
${location === undefined ? '' : html`<a class="button main large" href="${location}">Back to the shop</a>`}`;
  return page(c, {
    status,
    title: `${isPending ? 'Pay' : 'Payment'} ${transaction.merchantReference}`,
    // Browsers apply form-action to every redirect that follows, and the merchant may redirect the customer.
    formsTo: "'self' http: https:",
    body: html`<main class="frame narrow"><div class="head"><strong>${provider?.option.provider_name ?? providerCode}</strong>${badge('info', 'Simulated')}</div>
<div class="card">
<div><p class="quiet">${isPending ? 'To pay' : 'Payment'} for ${transaction.merchantReference}</p><h1>${money(total, currency)}</h1></div>
<dl class="facts">
${chargeCustomer ? html`<dt>Order</dt><dd>${money(amount, currency)}</dd><dt>Charge</dt><dd>${money(charge, currency)}</dd>` : ''}
<dt>From</dt><dd>${transaction.account}</dd>
<dt>Customer</dt><dd>${transaction.customerName}</dd>
<dt>Method</dt><dd>${provider?.option.transaction_method_name ?? providerCode}</dd>
</dl>
${decision}
</div>
<p class="quiet small">No money moves. This page simulates the provider's own.</p></main>`,
  });
}
