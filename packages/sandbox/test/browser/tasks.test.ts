import { describe, expect, test } from 'vitest';
import { createManualClock } from '../support/manual-clock.ts';
import { useStage } from '../support/stage.ts';
import { useBrowser } from '../support/visitor.ts';

const stage = useStage({ retry: { preset: 'none' } });
const visit = useBrowser();

/** A tab on a sandbox with one delivery that arrived and one that failed. */
async function open(path: string, javaScriptEnabled = true) {
  stage.merchant.answer = (response, { data }) => {
    response.statusCode = data.payload.merchant_reference === 'BAD' ? 500 : 200;
    response.end('{"status":"seen"}');
  };
  await stage.deliver();
  await stage.deliver({ merchant_reference: 'BAD' });
  const { url } = await stage.sandbox.listen();
  const { page, complaints } = await visit(url + path, { javaScriptEnabled });
  return { url, page, complaints };
}

describe.each([
  ['with scripts', true],
  ['without scripts', false],
])('%s', (_, javaScriptEnabled) => {
  test('why the newest delivery failed is one click away, sending it again two', async () => {
    const { page, complaints } = await open('/', javaScriptEnabled);
    await page.getByRole('link', { name: /1 needs attention/ }).click();
    await page.locator('.note.bad').getByText('500').first().waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Resent from').waitFor();
    await stage.sandbox.idle();
    expect(stage.merchant.received).toHaveLength(3);
    expect(complaints).toEqual([]);
  });

  test('a group of failures is sent again with one click, and the page says how many', async () => {
    const { page, complaints } = await open('/deliveries/failures', javaScriptEnabled);
    await page.getByRole('button', { name: 'Send 1 again' }).click();
    await page.getByText('Sending 1 delivery again.').waitFor();
    await stage.sandbox.idle();
    expect(stage.merchant.received.map(stage.verdict)).toEqual(['ORD-1', 'BAD', 'BAD']);
    expect(complaints).toEqual([]);
  });

  test('a pasted request is explained on the page, which keeps it', async () => {
    const { page, complaints } = await open('/explain', javaScriptEnabled);
    const request = page.getByLabel('Request');
    await request.fill('POST / HTTP/1.1\nhmac-signature: t=1,s=2\n\n{}');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('#explanation', { hasText: 'The signature is malformed.' }).waitFor();
    expect(await request.inputValue()).toContain('t=1,s=2');
    await request.fill('{}');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('The JSON has no "headers".').waitFor();
    expect(await page.locator('#explanation').count()).toBe(0);
    // A refused form is answered with 400, which the browser reports.
    expect(complaints.filter((one) => !one.includes('400'))).toEqual([]);
  });

  test('one field is changed and sent with two clicks, and no JSON is typed', async () => {
    const { page } = await open('/deliveries/1', javaScriptEnabled);
    await page.locator('.json').getByRole('link', { name: '"ORD-1"' }).click();
    await page.locator('[name="value.payload.merchant_reference"]:focus').waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('ORD-"7"');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('What differs from delivery 1').waitFor();
    await stage.sandbox.idle();
    expect(stage.merchant.received.map(stage.verdict).at(-1)).toBe('ORD-"7"');
  });
});

test('why 12 % of the deliveries fail since noon is one click away from the overview, and the answer to one of them two', async () => {
  const clock = createManualClock(Date.UTC(2026, 0, 2, 11));
  stage.open({ clock, retry: { preset: 'none' } });
  for (let index = 0; index < 25; index += 1) {
    clock.move(300_000);
    stage.answer(index > 12 && index % 4 === 1 ? 503 : 200);
    await stage.deliver({ merchant_reference: `ORD-${index}` });
  }
  const { url } = await stage.sandbox.listen();
  const { page, complaints } = await visit(url, { javaScriptEnabled: false });
  await page.getByRole('heading', { name: '3 of 25 deliveries failed, all since 12:00' }).waitFor();
  await page.getByRole('link', { name: 'Why 3 failed' }).click();
  await page.getByRole('heading', { name: '3 deliveries failed' }).waitFor();
  await page.locator('.note', { hasText: 'The endpoint is unavailable.' }).waitFor();
  const rows = page.locator('#failures tbody tr');
  expect(await rows.count()).toBe(3);
  expect(await rows.filter({ hasText: '503' }).count()).toBe(3);
  await rows.first().getByRole('link').first().click();
  await page.locator('.note.bad', { hasText: '503' }).waitFor();
  expect(complaints).toEqual([]);
});

test('on a wide screen the outcome of a delivery has room for its sentence, however long a reference is', async () => {
  const { page, url } = await open('/');
  stage.answer(401, '{"error":"unauthorized"}');
  await stage.deliver({ merchant_reference: 'R'.repeat(128) });
  await stage.deliver({ merchant_reference: 'FORGED-0000-0000', misbehave: { bad_signature: true } });
  await stage.deliver({
    merchant_reference: 'WRONG',
    callback_url: 'http://127.0.0.1:9/a/long/path/of/callbacks',
  });
  for (const path of ['/', '/deliveries', '/deliveries/failures']) {
    await page.goto(url + path);
    const found: unknown = await page.evaluate(`[...document.querySelectorAll('td.sentence')]
      .map((one) => [one.clientWidth >= 240, one.scrollWidth <= one.clientWidth, getComputedStyle(one).textOverflow])`);
    expect([path, found]).toEqual([path, expect.arrayContaining([[true, true, 'clip']])]);
    expect(JSON.stringify(found)).not.toContain('false');
  }
});

test('the curl command of a delivery and of a request is copied with one click', async () => {
  const { page, url } = await open('/deliveries/1');
  await stage.sandbox.fetch(`${url}/data/wallet-balances`);
  const copied = async (): Promise<unknown> => {
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('Copied.', { exact: true }).waitFor();
    return page.evaluate('navigator.clipboard.readText()');
  };
  expect(await copied()).toContain("-H 'hmac-signature: t=");
  await page.goto(`${url}/requests/1`);
  expect(await copied()).toContain('/data/wallet-balances');
});

test('the string to be signed is updated while a value is edited, without moving the page', async () => {
  const { page, complaints } = await open('/compose/1?edit=payload.merchant_reference');
  const signature = page.locator('#preview dd', { hasText: /^t=\d+,s=/ });
  const hash = async (): Promise<string> => String(await signature.textContent()).replace(/^t=\d+/, '');
  const before = await hash();
  await page.locator('[name="value.payload.merchant_reference"]:focus').waitFor();
  await page.keyboard.press('End');
  await page.keyboard.type('-NEW');
  await page.locator('#preview mark', { hasText: 'ORD-1-NEW' }).waitFor();
  expect(await hash()).not.toBe(before);
  expect(await page.evaluate('document.activeElement.id')).toBe('value-payload.merchant_reference');
  // The amount is not signed: the body changes and the signature stays.
  const signed = await hash();
  const amount = page.getByLabel('payload.transaction_amount');
  await amount.fill('9');
  await page.locator('#preview ins', { hasText: '"transaction_amount": 9' }).waitFor();
  expect(await hash()).toBe(signed);
  expect(stage.merchant.received).toHaveLength(2);
  expect(complaints).toEqual([]);
});

test('rows stay in place under the pointer while others arrive, which appear on request', async () => {
  const { page, complaints } = await open('/deliveries');
  const ids = (): Promise<unknown> =>
    page.evaluate("[...document.querySelectorAll('#deliveries tbody tr')].map(({ id }) => id)");
  const first = page.locator('#deliveries-1002');
  await first.hover();
  const top = (await first.boundingBox())?.y;
  for (const merchant_reference of ['N-1', 'N-2', 'N-3']) stage.collect({ merchant_reference });
  const button = page.getByRole('button', { name: '3 new' });
  await button.waitFor();
  expect(await ids()).toEqual(['deliveries-1002', 'deliveries-1001']);
  // An existing row continues to change in its place.
  await stage.sandbox.idle();
  stage.sandbox.compose(1, { forged_amount: 1 });
  await page.locator('#deliveries-1001', { hasText: '×2' }).waitFor();
  expect(await ids()).toEqual(['deliveries-1002', 'deliveries-1001']);
  expect((await first.boundingBox())?.y).toBe(top);
  await button.click();
  await page.getByRole('link', { name: 'N-3' }).waitFor();
  await page.getByText('1 earlier delivery').waitFor();
  expect(await button.count()).toBe(0);
  // Control: without a pointer on them, rows appear on their own.
  stage.collect({ merchant_reference: 'N-4' });
  await page.getByRole('link', { name: 'N-4' }).waitFor();
  expect(complaints).toEqual([]);
});
