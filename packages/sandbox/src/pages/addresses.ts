import { files, pages } from './dashboard.ts';
import { PAYMENT_PAGE } from './payment-page.ts';

/**
 * The addresses that readers open, without the patterns of their parameters, for tests of every page. The workspace exports it,
 * and the published package does not.
 */
export const addresses: readonly string[] = [...Object.keys({ ...pages, ...files }), PAYMENT_PAGE].map(
  (one) => one.replace(/\{[^/]{1,40}$/, ''),
);
