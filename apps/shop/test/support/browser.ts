import { type Browser, type BrowserContext, type Page, startBrowser } from '@payment-service/servers/browser';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

type Options = Parameters<Browser['newContext']>[0];

/** Starts a browser for a test file, and returns a function that opens a separate page, closed when the test has finished. */
export function useBrowser(): (url?: string, options?: Options) => Promise<Page> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  return async (url, options) => {
    const context: BrowserContext = await browser.newContext(options);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    if (url !== undefined) await page.goto(url);
    return page;
  };
}

/** Fills in the checkout that the page shows. */
export async function fillIn(page: Page, account: string, provider?: RegExp): Promise<void> {
  await page.getByLabel('Your name').fill('Ann Example');
  await page.getByLabel('Phone or account number').fill(account);
  if (provider !== undefined) await page.getByRole('radio', { name: provider }).check();
}

/** Presses a button, such as the one of the checkout and the one of the payment page. */
export const press = (page: Page, name: RegExp | string): Promise<void> =>
  page.getByRole('button', { name }).click();

/** Resolves when the page has the heading. */
export const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { name }).waitFor();
