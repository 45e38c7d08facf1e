import type { Browser, Page } from '@payment-service/browser';

/** How a reader looks at the pages. */
export interface View {
  readonly colorScheme?: 'light' | 'dark';
  readonly isPhone?: boolean;
  readonly javaScriptEnabled?: boolean;
  readonly timezoneId?: string;
}

/** A tab, and what its console complains of. */
export interface Visit {
  readonly page: Page;
  readonly complaints: string[];
}

export async function visit(browser: Browser, view: View = {}): Promise<Visit> {
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
  return { page, complaints };
}
