import { withQuery } from '@payment-service/pages';
import type { View } from './pages/page.ts';
import { paymentPath } from './pages/summary.ts';

/** The addresses that pages had, and where they are now, by the query. */
const MOVED: Readonly<Record<string, (query: URLSearchParams) => string>> = {
  '/transitions': (query) => withQuery('/payments', { search: query.get('reference') ?? '' }),
  '/transitions.csv': () => '/payments.csv',
  '/overdue': () => '/payments?state=overdue',
  '/overdue.csv': () => '/payments.csv?state=overdue',
  '/paid': (query) => withQuery('/payment', { reference: query.get('reference') ?? '' }),
  '/bulk': (query) => withQuery('/payments', { state: 'needed', reason: query.get('reason') ?? '' }),
};

/** Where this page is now, if it has moved. */
export async function movedTo({ inbox, path, query }: View): Promise<string | undefined> {
  const [, id] = /^\/transitions\/([0-9a-f]{64})$/.exec(path) ?? [];
  if (id === undefined) return Object.hasOwn(MOVED, path) ? MOVED[path]?.(query) : undefined;
  const report = await inbox.report(id);
  return report && paymentPath(report.signed);
}
