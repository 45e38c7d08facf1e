/** Follows the steps that `pnpm start` prints: a button that it names exists, and a result that it promises is on the page. */
import { type Page, startBrowser } from '@payment-service/servers/browser';
import { expect, onTestFinished, test } from 'vitest';
import { run } from './support/program.ts';

async function openPage(): Promise<Page> {
  const browser = await startBrowser();
  onTestFinished(() => browser.close());
  return browser.newPage();
}

test('every step that the demo prints leads where it says', { timeout: 120_000 }, async () => {
  const [page, printed] = await Promise.all([
    openPage(),
    run('demo.ts', [], { PORT: '0', SANDBOX_PORT: '0' }).printed('Ctrl-C'),
  ]);
  const [shop = '', sandbox = '', inbox = ''] = ['Shop', 'Sandbox', 'Inbox'].map(
    (name) => new RegExp(`${name} +(http:[^\\s,]+)`).exec(printed)?.[1],
  );
  /** Only what the steps name. */
  const named = (name: string): string => {
    expect(printed).toContain(`"${name}"`);
    return name;
  };
  const press = (name: string) => page.getByRole('button', { name: named(name), exact: true }).click();
  const follow = (name: string) => page.getByRole('link', { name, exact: true }).first().click();
  const shows = (selector: string, hasText: string | RegExp) =>
    page.locator(selector, { hasText }).first().waitFor();
  const orderIsPaid = async (reference: string): Promise<void> => {
    await page.goto(`${shop}/orders/${reference}`);
    await shows('h2', 'Paid. Thank you!');
  };

  await page.goto(shop);
  await follow(`${named('Buy')} Coffee beans, 500 g`);
  await page.getByRole('radio', { name: named('Example Mobile Money') }).check();
  await press('Continue');
  await page.getByLabel('Your name').fill('Ann Example');
  await page.getByLabel('Phone number').fill('256770000001');
  await press('Pay UGX 18,000');
  await page.waitForURL(/\/sandbox\/pay\//);
  await press('Pay UGX 18,000');
  await shows('h2', 'Paid. Thank you!');

  await page.goto(inbox);
  const reference = await page
    .locator('#needed-payments tr', { hasText: 'Held' })
    .getByRole('link')
    .innerText();
  await follow(reference);
  await shows('#actions', 'Credits UGX 4,500,000 in place of UGX 45,000.');
  await page.goto(sandbox);
  await follow(reference);
  await follow(named('Compose a callback'));
  await press('Send');
  await shows('.note', 'The callback was accepted.');
  await orderIsPaid(reference);

  const reconcile = printed.match(/http:\S+reconcile/g) ?? [];
  await page.goto(reconcile[0] ?? '');
  await shows('#wallets tr', /MERCHANT_COLLECTION UGX\s*more/i);
  const address = /Download the statement: (\S+)/.exec(printed)?.[1] ?? '';
  expect(address).toBe(`${sandbox}/statement.csv`);
  const buffer = Buffer.from(await (await fetch(address)).arrayBuffer());
  const file = { name: 'statement.csv', mimeType: 'text/csv', buffer };
  await page.getByLabel(named('Statement'), { exact: true }).setInputFiles(file);
  await press('Compare the statement');
  for (const verdict of ['paid_without_callback', 'absent_from_statement']) {
    await shows('#verdicts tr', new RegExp(`${verdict}\\s*1`));
  }
  const due = page.locator('#due label').first();
  const lost = await due.innerText();
  await due.click();
  await page.getByLabel(named('Why')).fill('The books of today.');
  await press('Settle the chosen payments');
  await shows('#result', /1 payment \(UGX [\d,]+\) was settled by this file/);
  await orderIsPaid(/ORD-\w+/.exec(lost)?.[0] ?? '');
  await page.goto(reconcile[1] ?? '');
  await shows('#gains', 'UGX 43,650 less than was settled');
});
