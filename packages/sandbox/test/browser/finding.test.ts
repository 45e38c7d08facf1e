import { type Browser, startBrowser } from '@payment-service/browser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collection } from '../support/api.ts';
import { useStage } from '../support/stage.ts';
import { visit } from '../support/visitor.ts';

const stage = useStage();
let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

test('with 500 transactions, the overview is at most two screens high, and the oldest is found by its reference', async () => {
  const sandbox = stage.open({ retry: { preset: 'none' } });
  stage.merchant.answer = (response) => response.writeHead(500).end();
  for (let i = 1; i <= 500; i += 1)
    sandbox.collect({
      ...collection,
      merchant_reference: `ORD-${i}`,
      mode: i % 20 === 0 ? 'direct' : 'pending',
    });
  await sandbox.idle();
  sandbox.advance(60);
  const { url } = await sandbox.listen();
  const { page } = await visit(browser);
  await page.goto(url);
  expect(await page.evaluate('document.documentElement.scrollHeight <= 2 * innerHeight')).toBe(true);
  await page.getByRole('link', { name: 'Transactions', exact: true }).click();
  await page.getByLabel('Search by').fill('SBX-1001-');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'ORD-1', exact: true }).click();
  await page.getByRole('heading', { name: 'ORD-1', exact: true }).waitFor();
  await page.context().close();
});

test('with the keyboard alone, the failed delivery is found, the reason is read, and it is sent again', async () => {
  const sandbox = stage.open({ retry: { preset: 'none' } });
  stage.merchant.answer = (response) => response.writeHead(500).end();
  sandbox.collect(collection);
  await sandbox.idle();
  const { url } = await sandbox.listen();
  const { page } = await visit(browser);
  await page.goto(url);
  const press = async (words: RegExp): Promise<void> => {
    for (let text = ''; !words.test(text); ) {
      await page.keyboard.press('Tab');
      text = String(await page.evaluate('document.activeElement.textContent'));
    }
    await page.keyboard.press('Enter');
  };
  await press(/1 needs attention/);
  await page.getByText('Your endpoint returned 500.').waitFor();
  await page.getByText('Look at its log for the error at this time.').waitFor();
  stage.merchant.answer = (response) => response.end('{}');
  await press(/^Send again$/);
  await page.getByText('The callback was accepted.').waitFor();
  await page.getByText('Resent from').waitFor();
  expect(stage.merchant.received).toHaveLength(2);
  await page.context().close();
});
