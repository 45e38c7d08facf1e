import { Hono } from 'hono';
import { onlyMethods } from '../http/contract-api.ts';
import { sendStatement } from '../http/sandbox-api.ts';
import type { Service } from '../service/service.ts';
import type { SandboxAccount } from '../state/account.ts';
import { checkPage } from './account/check.ts';
import { providersPage } from './account/providers.ts';
import { resetPage, settingsPage } from './account/settings.ts';
import { startPage } from './account/start.ts';
import { currencyPage, walletsPage } from './account/wallets.ts';
import { createActions } from './actions.ts';
import { composePage } from './compose/compose.ts';
import { createLive } from './live/routes.ts';
import type { Dashboard } from './parts/dashboard.ts';
import { comparePage } from './records/compare.ts';
import { deliveriesPage } from './records/deliveries.ts';
import { deliveryPage } from './records/delivery.ts';
import { overviewPage } from './records/overview.ts';
import { requestPage, requestsPage } from './records/requests.ts';
import { transactionPage } from './records/transaction.ts';
import { transactionsPage } from './records/transactions.ts';

const pages = {
  '/': overviewPage,
  '/transactions': transactionsPage,
  '/transactions/:id': transactionPage,
  '/deliveries': deliveriesPage,
  '/deliveries/compare': comparePage,
  '/deliveries/:id': deliveryPage,
  '/requests': requestsPage,
  '/requests/:id': requestPage,
  '/compose/:id{[0-9]+}': composePage,
  '/wallets': walletsPage,
  '/wallets/:currency': currencyPage,
  '/providers': providersPage,
  '/check': checkPage,
  '/start': startPage,
  '/settings': settingsPage,
  '/settings/reset': resetPage,
} as const;

/** The dashboard: one address for each thing. It needs no keys: it shows them. */
export function createDashboard(service: Service, account: SandboxAccount): Hono {
  const dashboard: Dashboard = { service, account };
  const app = new Hono();
  for (const [path, show] of Object.entries(pages)) {
    app.get(path, (c) => show(c, dashboard));
    app.all(path, onlyMethods('GET', 'HEAD'));
  }
  app.get('/statement.csv', (c) => sendStatement(c, service));
  app.route('/', createLive(service));
  app.route('/', createActions(dashboard));
  return app;
}
