import { expect, test } from 'vitest';
import { aesGcm } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { commandOn } from '../support/command.ts';
import { formIn, newConsoleShop, pageOf, visit } from '../support/console.ts';
import { MINUTE_MS, money, NOTE, newShop, seen } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const rowsIn = (html: string, list: string): string[] =>
  [...html.matchAll(new RegExp(`<tr id="${list}-([0-9a-f]{64})">`, 'g'))].map(([, id = '']) => id);

/** A console with a number of unhandled transitions. */
async function newLongList(count: number) {
  const shop = await newConsoleShop();
  for (let number = 0; number < count; number += 1)
    await shop.inbox.route.onCallback(paid(`N-${number}`, 500));
  await workOff(shop.inbox);
  return { ...shop, visitor: visit(shop.inbox) };
}

test('the list narrows by state and reason, finds either reference, has pages, and is downloaded whole', async () => {
  const { inbox, pay, visitor } = await newLongList(30);
  await inbox.expect(money('WRONG'));
  await pay('WRONG', 7, { provider_code: 'mtn_ug' });
  const first = await visitor.get('/transitions?state=unhandled');
  expect(rowsIn(first.html, 'transitions')).toHaveLength(25);
  const [, older = ''] = /href="[^"]*(\/transitions\?[^"]*page=2)">Older/.exec(first.html) ?? [];
  const second = await visitor.get(older.replaceAll('&amp;', '&'));
  expect(rowsIn(second.html, 'transitions')).toHaveLength(5);
  expect(second.html).not.toContain('>Older<');
  expect(second.html).toContain('>Newer<');
  const byProvider = await visitor.get('/transitions?provider=mtn_ug&sort=amount&from=2020-01-01');
  expect(byProvider.text).toContain('1 report, 1 of completed payments: UGX 500 expected, UGX 7 claimed.');
  expect(rowsIn(byProvider.html, 'transitions')).toHaveLength(1);
  expect((await visitor.get('/transitions?from=yesterday')).status).toBe(404);
  for (const typed of ['N-3', 'INT-N-3', ' N-3 ']) {
    const found = await visitor.get(`/transitions?${new URLSearchParams({ reference: typed })}`);
    expect(rowsIn(found.html, 'transitions'), typed).toEqual([paid('N-3', 500).transitionId]);
  }
  // It is downloaded whole, whatever page it is on.
  const { html, headers } = await visitor.get('/transitions.csv?state=unhandled');
  expect(html.trimEnd().split('\r\n')).toHaveLength(31);
  const ofProvider = await visitor.get('/transitions.csv?provider=mtn_ug');
  expect(ofProvider.html).toContain(',UGX,500,UGX,7,mtn_ug,');
  expect(headers.get('content-disposition')).toBe('attachment; filename="transitions.csv"');
});

test('a partial amount is accepted with a note, and is what is credited', async () => {
  const { inbox, merchant, show } = await newConsoleShop();
  await inbox.expect(money('PART'));
  await inbox.route.onCallback(paid('PART', 500, { transaction_amount: 300 }));
  await workOff(inbox);
  const visitor = visit(inbox);
  const { html } = await visitor.get(pageOf('PART'));
  const [, body = ''] = /<option value="([0-9a-f]{64}:transaction)">/.exec(html) ?? [];
  const note = 'The service says that 300 was paid.';
  const done = await visitor.send(pageOf('PART'), 'accept', { body, note });
  expect(done.text).toContain('Accepted: the next free worker applies it.');
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['PART 300']);
  expect(await show('PART')).toMatchObject({
    state: 'settled',
    expectation: { amount: '300', replaced: [{ amount: '500' }] },
    actions: [{ action: 'accept', by: 'dana', note }],
  });
});

test('what is confirmed shows once, and not to the update of another page', async () => {
  const { inbox } = await newConsoleShop('NONE');
  const path = pageOf('NONE');
  const visitor = visit(inbox);
  const fields = await visitor.fieldsOf(path, 'resolve');
  await visitor.post(`${path}/resolve`, { ...fields, note: 'not ours' });
  expect((await visitor.get('', { 'x-refresh': '1' })).text).not.toContain('Closed. ');
  expect((await visitor.get(path)).html).toContain('id="said">Closed.<');
  expect((await visitor.get(path)).html).toContain('id="said"><');
});

test('without a note, and after another operator has closed it, the form says what is wrong and keeps what was typed', async () => {
  const { inbox, show } = await newConsoleShop('NONE');
  const path = pageOf('NONE');
  const visitor = visit(inbox);
  for (const note of [' ', 'typed '.repeat(200)]) {
    const { status, text, html } = await visitor.send(path, 'retry', { note });
    expect(status).toBe(422);
    expect(text).toContain('Say why, in at most 1000 characters.');
    expect(html).toContain(note);
  }
  const fields = await visitor.fieldsOf(path, 'retry');
  await inbox.resolve(await seen(inbox, paid('NONE', 500).transitionId), NOTE);
  const late = await visitor.post(`${path}/retry`, { ...fields, note: 'typed text' });
  expect(late.status).toBe(409);
  expect(late.text).toContain('Refused. Nothing was changed.');
  expect((await show('NONE'))?.actions).toHaveLength(1);
});

test('personal data is removed of all under a reference by a form with a note', async () => {
  const { inbox, show } = await newConsoleShop('NONE');
  const path = pageOf('NONE');
  const visitor = visit(inbox);
  const fields = await visitor.fieldsOf(path, 'forget');
  expect((await visitor.post(`${path}/forget`, { ...fields, note: '' })).status).toBe(422);
  expect((await show('NONE'))?.bodies[0]?.text).toBeDefined();
  const done = await visitor.send(path, 'forget', { note: 'erasure request 17' });
  expect(done.text).toContain('The personal data of this payment was removed.');
  expect(done.text).toContain('Personal data removed by dana erasure request 17');
  expect((await show('NONE'))?.bodies[0]?.text).toBeUndefined();
});

test('a body that is sealed, and cannot be opened here, is said to be sealed and not to be removed', async () => {
  const keys = { k1: Buffer.alloc(32, 1) };
  const { merchant, inbox, pay } = await newShop('sqlite', { encryption: aesGcm({ current: 'k1', keys }) });
  await pay('NONE');
  const { text } = await visit(merchant.open()).get(pageOf('NONE'));
  expect(text).toContain('The content is encrypted, and the key is missing here');
  expect(text).not.toContain('The content was removed');
  expect((await visit(inbox).get(pageOf('NONE'))).text).toContain('The whole body'); // Control.
});

test('threat A66: a body that is not encrypted is said to be so where others are, on the page and by the command', async () => {
  const keys = { k1: Buffer.alloc(32, 1) };
  const { merchant, inbox, pay } = await newShop('sqlite', { encryption: aesGcm({ current: 'k1', keys }) });
  await pay('NONE');
  await pay('NONE', 501);
  const id = paid('NONE', 500).transitionId;
  const said = 'The content is not encrypted';
  const { run } = commandOn(merchant);
  const pages = async (): Promise<boolean[]> => {
    const { text } = await visit(inbox).get(pageOf('NONE'));
    return [text, (await run('report', id)).stdout].map((each) => each.includes(said));
  };
  const unsealed = async (): Promise<boolean[] | undefined> =>
    (await inbox.show(id))?.bodies.map(({ isUnsealed }) => isUnsealed);
  expect([await unsealed(), await pages()]).toEqual([
    [false, false],
    [false, false],
  ]);
  const written = JSON.stringify({ payload: { customer_name: 'Written by hand' } });
  const body = merchant.table('body');
  await merchant.query(`update ${body} set content = $1 where digest = (select min(digest) from ${body})`, [
    written,
  ]);
  expect((await unsealed())?.sort()).toEqual([false, true]);
  expect(await pages()).toEqual([true, true]);
});

test('the preview of an action in bulk shows what would be moved, and moves that and nothing that changed after it', async () => {
  const { inbox, pay, merchant, visitor } = await newLongList(12);
  const list = await visitor.get('/transitions?state=unhandled&reason=no_expectation');
  expect(list.html).toContain('/bulk?action=resolve&amp;state=unhandled&amp;reason=no_expectation');
  const preview = await visitor.get('/bulk?action=resolve&state=unhandled&reason=no_expectation');
  expect(preview.text).toContain('Close 12 transitions');
  expect(rowsIn(preview.html, 'moved')).toHaveLength(10);
  expect((await inbox.stats()).states.unhandled).toBe(12);
  await merchant.advance(MINUTE_MS);
  await pay('LATER');
  const { values } = formIn(preview.html, 'resolve');
  expect((await visitor.post('/bulk/resolve', { ...values, note: 'old' })).status).toBe(303);
  expect((await visitor.get('/transitions')).text).toContain('12 transitions closed.');
  const left = await inbox.list({ state: 'unhandled' });
  expect(left).toMatchObject([{ signed: { merchant_reference: 'LATER' } }]);
});

test('an address that the console does not have is a page that says so', async () => {
  const { inbox } = await newConsoleShop();
  const searches = ['state=__proto__', 'after=1', 'reason=A'].map((query) => `/transitions?${query}`);
  const bulk = ['action=resolve', 'state=unhandled', 'action=reopen&state=unhandled'].map(
    (query) => `/bulk?${query}`,
  );
  const others = [
    ...['/transitions/:id', '/transitions/:id{[0-9a-f]{64}}'],
    '/x',
    '/assets/../x',
    '/transitions/1',
    '/transitions/constructor',
    pageOf('X'),
    '/transitions.csv?state=x',
  ];
  for (const path of [...others, ...searches, ...bulk])
    expect((await visit(inbox).get(path)).status, path).toBe(404);
});
