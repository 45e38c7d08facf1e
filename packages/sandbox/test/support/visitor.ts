import { type Browser, type Page, startBrowser } from '@payment-service/servers/browser';
import { afterAll, afterEach, beforeAll } from 'vitest';

/** How a reader views the pages. */
export interface View {
  readonly colorScheme?: 'light' | 'dark';
  readonly isPhone?: boolean;
  readonly javaScriptEnabled?: boolean;
  readonly timezoneId?: string;
}

/** A tab, and the complaints in its console. */
export interface Visit {
  readonly page: Page;
  readonly complaints: string[];
}

/**
 * A browser for the tests of a file. Returns a function that opens a tab, at an address if one is given, which is closed after
 * its test.
 */
export function useBrowser(): (address?: string, view?: View) => Promise<Visit> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
  });
  afterAll(() => browser?.close());
  return async (address, view = {}) => {
    const { colorScheme = 'light', isPhone = false, javaScriptEnabled = true, timezoneId = 'UTC' } = view;
    const context = await browser.newContext({
      colorScheme,
      javaScriptEnabled,
      timezoneId,
      permissions: ['clipboard-read', 'clipboard-write'],
      ...(isPhone
        ? { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
        : { viewport: { width: 1280, height: 800 } }),
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    if (address !== undefined) await page.goto(address);
    return { page, complaints };
  };
}
