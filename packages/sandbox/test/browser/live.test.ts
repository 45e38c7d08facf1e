import { beforeEach, describe, expect, test } from 'vitest';
import { useStage } from '../support/stage.ts';
import { useBrowser } from '../support/visitor.ts';

const stage = useStage({ retry: { max_attempts: 1 } });
const visit = useBrowser();
let url: string;
beforeEach(async () => {
  ({ url } = await stage.sandbox.listen());
});

/** Another sandbox on the port of the closed one. */
const reopen = async (): Promise<void> => {
  await stage.open().listen({ port: Number(new URL(url).port) });
};

test('a page shows changes, announces each once, and keeps typed input, focus, open panels and scroll position', async () => {
  for (let i = 0; i < 30; i += 1) stage.collect({ mode: 'pending', merchant_reference: `OLD-${i}` });
  const { page, complaints } = await visit(url);
  await page.locator('#keys').getByText('Keys', { exact: true }).click();
  await page.evaluate(`globalThis.said = []; new MutationObserver(() => said.push(document.getElementById('status').textContent))
    .observe(document.getElementById('status'), { childList: true, subtree: true, characterData: true });
    scrollTo(0, 120)`);
  stage.collect({ merchant_reference: 'NEW' });
  await page.getByRole('link', { name: 'NEW' }).waitFor();
  await page.locator('#transactions .state', { hasText: 'Delivered' }).waitFor();
  expect(await page.locator('#keys').getAttribute('open')).not.toBeNull();
  expect(await page.evaluate('scrollY')).toBe(120);
  expect(await page.evaluate('said')).toEqual(['31 transactions, 0 need attention.']);

  await page.goto(`${url}/start`);
  const collection = page.locator('#collection');
  const name = collection.getByLabel('Customer name');
  const charged = collection.getByLabel('The customer pays the charge');
  await name.fill('Zoë');
  await collection.getByText('Advanced').click();
  await charged.check();
  await name.focus();
  await page.keyboard.type(' and');
  const suggested = await page.locator('#payout-merchant_reference').getAttribute('value');
  stage.collect({ merchant_reference: 'ANOTHER' });
  // Unchanged fields follow the server: the suggested reference advances.
  await page.locator(`#payout-merchant_reference:not([value="${suggested}"])`).waitFor({ state: 'attached' });
  await page.keyboard.type(' more');
  expect(await name.inputValue()).toBe('Zoë and more');
  expect(await charged.isChecked()).toBe(true);
  expect(complaints).toEqual([]);
});

test('times are in UTC, and local once the reader has asked for it', async () => {
  const [hours, offset] = [-3.5, '-03:30'];
  const id = await stage.deliver();
  const { page, complaints } = await visit(`${url}/transactions/${id}`, { timezoneId: 'America/St_Johns' });
  const time = page.locator('#story time').first();
  const iso = (await time.getAttribute('datetime')) ?? '';
  const shown = (ahead: number, zone: string): string =>
    `${new Date(Date.parse(iso) + ahead * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')} ${zone}`;
  expect(await time.textContent()).toBe(shown(0, 'UTC'));
  await page.getByRole('button', { name: 'Times: UTC' }).click();
  expect(await time.textContent()).toBe(shown(hours, `UTC${offset}`));
  await page.reload();
  expect(await time.textContent()).toBe(shown(hours, `UTC${offset}`));
  // What arrives later is shown in the same zone.
  await stage.call('POST', '/sandbox/deliveries/1/resend');
  await page
    .locator('#story time', { hasText: `UTC${offset}` })
    .nth(4)
    .waitFor();
  await page.getByRole('button', { name: 'Times: local' }).click();
  expect(await time.textContent()).toBe(shown(0, 'UTC'));
  expect(complaints).toEqual([]);
});

test('a hidden tab sends no requests, and is up to date when it is shown again', async () => {
  const { page } = await visit();
  await page.clock.install();
  await page.goto(url);
  const hide = (hidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
    );
  await page.waitForRequest(`${url}/`);
  await hide(true);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  stage.collect({ merchant_reference: 'MEANWHILE' });
  await page.clock.runFor(10_000);
  expect(asked).toEqual([]);
  await hide(false);
  await page.getByRole('link', { name: 'MEANWHILE' }).waitFor();
});

test('seven tabs of one browser are live, even if the first is closed; they say that close() has ended them, and recover', async () => {
  const { page: first, complaints } = await visit();
  // They share the connections of one browser.
  const others = await Promise.all(Array.from({ length: 6 }, () => first.context().newPage()));
  for (const page of [first, ...others]) await page.goto(url);
  stage.collect({ merchant_reference: 'SEEN-BY-ALL' });
  for (const page of [first, ...others]) await page.getByRole('link', { name: 'SEEN-BY-ALL' }).waitFor();
  expect(complaints).toEqual([]);
  await first.close();
  const lost = others.map((page) => page.getByText('Connection lost. Trying again…').waitFor());
  await stage.sandbox.close();
  await Promise.all(lost);
  await reopen();
  stage.collect({ merchant_reference: 'AFTER' });
  for (const page of others) {
    await page.getByRole('link', { name: 'AFTER' }).waitFor();
    await page.locator('#connection').waitFor({ state: 'hidden' });
  }
});

describe('what is saved or sent is confirmed', () => {
  const kept = 'http://127.0.0.1:3000/kept';
  /** The settings page with an address to save. */
  const typed = async (javaScriptEnabled = true) => {
    const { page, complaints } = await visit(`${url}/settings`, { javaScriptEnabled });
    const redirect = page.getByLabel('Redirect URL');
    await redirect.fill(kept);
    const save = page.getByRole('button', { name: 'Save the addresses' });
    return { page, complaints, redirect, save, saved: page.getByText('Saved.', { exact: true }) };
  };

  test.each([true, false])('once, where it was done (script: %s)', async (javaScriptEnabled) => {
    const { page, complaints, save, saved } = await typed(javaScriptEnabled);
    const said = page.locator('#said');
    await save.click();
    await saved.waitFor();
    const callback = page.getByLabel('Callback URL');
    await callback.fill('http://elsewhere.example/');
    await save.click();
    await page.getByText('Refused. Nothing was saved or sent.').waitFor();
    // The browser moves the focus after it has drawn the page.
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('addresses-callback_url');
    expect(await callback.inputValue()).toBe('http://elsewhere.example/');
    await page.goto(`${url}/start`);
    expect(await said.textContent()).toBe('');
    await page.getByRole('button', { name: 'Collect', exact: true }).click();
    // On another page: the confirmation is shown there.
    await page.getByText('The collection was started.').waitFor();
    await page.reload();
    expect(await said.textContent()).toBe('');
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([]);
  });

  test('even after the sandbox was unavailable: a save is reported, keeps what was typed, and goes through later without leaving the page', async () => {
    const { page, redirect, save, saved } = await typed();
    const reported = page.getByText('Not saved: the sandbox does not answer.');
    await stage.sandbox.close();
    await save.click();
    await reported.waitFor();
    await reopen();
    // The page shows the new state, and still contains the input.
    stage.sandbox.advance(7200);
    await page.getByText('The clock is 2 h ahead.').waitFor();
    await reported.waitFor();
    expect(await redirect.inputValue()).toBe(kept);
    await page.evaluate('globalThis.same = true');
    await save.click();
    await saved.waitFor();
    expect(await page.evaluate('same')).toBe(true);
    await page.reload();
    expect(await redirect.inputValue()).toBe(kept);
  });
});

test('announcements are at least five seconds apart, the last one is not lost, and the title counts what needs attention', async () => {
  const { page } = await visit();
  await page.clock.install();
  await page.goto(`${url}/transactions`);
  const status = page.locator('#status');
  for (const number of [1, 2, 3]) {
    stage.collect({ merchant_reference: `ORD-${number}`, mode: 'pending' });
    await page.clock.runFor(1000);
    await page.getByRole('link', { name: `ORD-${number}` }).waitFor();
    await page.locator(`main[data-says^="${number} transactions"]`).waitFor();
  }
  expect(await status.textContent()).toContain('1 transactions');
  await page.clock.runFor(5000);
  await expect.poll(() => status.textContent()).toContain('3 transactions');
  expect(await page.title()).toBe('Transactions · Payment service sandbox');
  stage.answer(500);
  stage.collect();
  await expect.poll(() => page.title()).toBe('(1) Transactions · Payment service sandbox');
});
