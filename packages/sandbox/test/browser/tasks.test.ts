import { type Browser, type Page, startBrowser } from '@payment-service/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collection } from '../support/api.ts';
import { useStage } from '../support/stage.ts';
import { visit } from '../support/visitor.ts';

const stage = useStage();
let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

const open = async (javaScriptEnabled = true): Promise<{ page: Page; url: string; complaints: string[] }> => {
  const sandbox = stage.open({ retry: { preset: 'none' } });
  stage.merchant.answer = (response, { data }) => {
    response.statusCode = data.payload.merchant_reference === 'BAD' ? 500 : 200;
    response.end('{"status":"seen"}');
  };
  sandbox.collect(collection);
  sandbox.collect({ ...collection, merchant_reference: 'BAD' });
  await sandbox.idle();
  const { url } = await sandbox.listen();
  return { url, ...(await visit(browser, { javaScriptEnabled })) };
};

/** Counts what a reader presses. */
const counter = () => {
  let clicks = 0;
  return {
    press: async (what: ReturnType<Page['locator']>): Promise<void> => {
      clicks += 1;
      await what.click();
    },
    clicks: () => clicks,
  };
};

describe.each([
  ['with scripts', true],
  ['without scripts', false],
])('%s', (_, javaScriptEnabled) => {
  test('why the newest delivery failed is one click away, sending it again two', async () => {
    const { page, url, complaints } = await open(javaScriptEnabled);
    const { press, clicks } = counter();
    await page.goto(url);
    await press(page.getByRole('link', { name: /1 needs attention/ }));
    await page.locator('.note.bad').getByText('500').first().waitFor();
    expect(clicks()).toBe(1);
    await press(page.getByRole('button', { name: 'Send again' }));
    await page.getByText('Resent from').waitFor();
    expect(clicks()).toBe(2);
    await stage.sandbox.idle();
    expect(stage.merchant.received).toHaveLength(3);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('one field is changed and sent with two clicks, and no JSON is typed', async () => {
    const { page, url } = await open(javaScriptEnabled);
    const { press, clicks } = counter();
    await page.goto(`${url}/deliveries/1`);
    await press(page.locator('.json').getByRole('link', { name: '"ORD-1"' }));
    await page.locator('[name="value.payload.merchant_reference"]:focus').waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('ORD-"7"');
    await press(page.getByRole('button', { name: 'Send', exact: true }));
    await page.getByText('What differs from delivery 1').waitFor();
    expect(clicks()).toBe(2);
    await stage.sandbox.idle();
    expect(stage.verdict(stage.merchant.received.at(-1) ?? fail())).toBe('ORD-"7"');
    await page.context().close();
  });

  test('two deliveries are compared with three clicks', async () => {
    const { page, url } = await open(javaScriptEnabled);
    const { press, clicks } = counter();
    await page.goto(`${url}/deliveries`);
    await press(page.getByLabel('Compare delivery 1'));
    await press(page.getByLabel('Compare delivery 2'));
    await press(page.getByRole('button', { name: 'Compare the two chosen' }));
    await page.getByText('HTTP 500').waitFor();
    await page.getByText('only 2').first().waitFor();
    expect(clicks()).toBe(3);
    await page.context().close();
  });
});

const fail = (): never => {
  throw new Error('Nothing arrived.');
};

test('the curl command of a delivery and of a request is copied with one click', async () => {
  const { page, url } = await open();
  await stage.sandbox.fetch(`${url}/data/wallet-balances`);
  for (const [path, part] of [
    ['/deliveries/1', "-H 'hmac-signature: t="],
    ['/requests/1', '/data/wallet-balances'],
  ]) {
    const { press, clicks } = counter();
    await page.goto(url + path);
    await press(page.getByRole('button', { name: 'Copy as curl' }));
    await page.getByText('Copied.', { exact: true }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(part);
    expect(clicks()).toBe(1);
  }
  await page.context().close();
});

test('the string to be signed is updated while a value is edited, without moving the page', async () => {
  const { page, url, complaints } = await open();
  await page.goto(`${url}/compose/1?edit=payload.merchant_reference`);
  const signature = page.locator('#preview dd', { hasText: /^t=\d+,s=/ });
  const hash = async (): Promise<string> => String(await signature.textContent()).replace(/^t=\d+/, '');
  const before = await hash();
  await page.locator('[name="value.payload.merchant_reference"]:focus').waitFor();
  await page.keyboard.press('End');
  await page.keyboard.type('-NEW');
  await page.locator('#preview mark', { hasText: 'ORD-1-NEW' }).waitFor();
  expect(await hash()).not.toBe(before);
  expect(await page.evaluate('document.activeElement.id')).toBe('value-payload.merchant_reference');
  await page.keyboard.type('ER');
  await page.locator('#preview mark', { hasText: 'ORD-1-NEWER' }).waitFor();
  // The amount is not signed: the body changes and the signature stays.
  const signed = await hash();
  await page.getByLabel('payload.transaction_amount').fill('9');
  await page.locator('#preview ins', { hasText: '"transaction_amount": 9' }).waitFor();
  expect(await hash()).toBe(signed);
  await page.reload();
  expect(await page.getByLabel('payload.transaction_amount').inputValue()).toBe('9');
  expect(stage.merchant.received).toHaveLength(2);
  expect(complaints).toEqual([]);
  await page.context().close();
});

test('rows stay in place under the pointer while others arrive, which appear on request', async () => {
  const { page, url, complaints } = await open();
  await page.goto(`${url}/deliveries`);
  const ids = (): Promise<unknown> =>
    page.evaluate("[...document.querySelectorAll('#deliveries tbody tr')].map(({ id }) => id)");
  const first = page.locator('#deliveries-1002');
  await first.hover();
  const top = (await first.boundingBox())?.y;
  for (const merchant_reference of ['N-1', 'N-2', 'N-3'])
    stage.sandbox.collect({ ...collection, merchant_reference });
  const button = page.getByRole('button', { name: '3 new' });
  await button.waitFor();
  expect(await ids()).toEqual(['deliveries-1002', 'deliveries-1001']);
  // A row that is there goes on to change in its place.
  await stage.sandbox.idle();
  stage.sandbox.compose(1, { forged_amount: 1 });
  await page.locator('#deliveries-1001', { hasText: '×2' }).waitFor();
  expect(await ids()).toEqual(['deliveries-1002', 'deliveries-1001']);
  expect((await first.boundingBox())?.y).toBe(top);
  await button.click();
  await page.getByRole('link', { name: 'N-3' }).waitFor();
  await page.getByText('1 earlier delivery').waitFor();
  expect(await button.count()).toBe(0);
  // Control: without a pointer on them, rows come on their own.
  stage.sandbox.collect({ ...collection, merchant_reference: 'N-4' });
  await page.getByRole('link', { name: 'N-4' }).waitFor();
  expect(complaints).toEqual([]);
  await page.context().close();
});

test('what needs attention is dismissed with one click where it is listed', async () => {
  const { page, url } = await open();
  await page.goto(url);
  await page.getByRole('button', { name: 'Mark as seen delivery 2' }).click();
  await page.locator('#trouble').waitFor({ state: 'detached' });
  expect(await page.getByText('1 needs attention').count()).toBe(0);
  await page.context().close();
});
