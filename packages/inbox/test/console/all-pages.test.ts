import { expect, test } from 'vitest';
import { callback, evidence, paid } from '../support/callbacks.ts';
import { newConsoleShop, visit } from '../support/console.ts';
import { MINUTE_MS, money, NOTE } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

/** What differs from one run to the next, and what is long. */
const LEFT_OUT: readonly (readonly [RegExp, string])[] = [
  [/(name="(?:proof|until)" value="|data-version=")[0-9a-f]+/g, '$1…'],
  [/<time datetime="[^"]*"( data-age)? title="[^"]*">[^<]*/g, '<time$1>…'],
  [/20\d\d-\d\d-\d\dT[\d:.]+Z/g, '…'],
  [/due for \d+ seconds/g, 'due for … seconds'],
  [/([0-9a-f]{8})[0-9a-f]{56}/g, '$1…'],
  [/\r/g, ''],
  [/<svg.*?<\/svg>/g, ''],
  [/(The whole body<.*?<\/summary>).*?(<\/details>)/gs, '$1$2'],
];

test('the pages of the console are as written down, with their words, links, colours and forms', async () => {
  const { inbox, pay, merchant } = await newConsoleShop();
  for (const reference of ['OK', 'DEAD-1', 'PART']) await inbox.expect(money(reference));
  const closed = paid('CLOSED', 500);
  const part = { transaction_amount: 300, customer_name: 'Another' };
  /** In an order: each has a time of its own. */
  for (const happens of [
    () => pay('OK'),
    () => pay('DEAD-1'),
    () => inbox.receive(paid('PART', 500)),
    () => inbox.receive(paid('PART', 500, part)),
    () => inbox.receive(callback({ merchant_reference: 'FAILED', transaction_status: 'FAILED' })),
    () => inbox.quarantine(evidence('ambiguous')),
    () => inbox.receive(closed),
    () => workOff(inbox),
    () => inbox.resolve(closed.transitionId, NOTE),
    () => pay('NONE'),
    () => inbox.expect({ ...money('LATE', '1234567.5'), deadline: new Date(0) }),
    () => inbox.receive(paid('DUE', 500)),
  ]) {
    await happens();
    await merchant.advance(MINUTE_MS);
  }

  const story = async (reference: string): Promise<string> =>
    `/transitions/${(await inbox.list({ merchant_reference: reference }))[0]?.transitionId}`;
  const references = ['OK', 'DEAD-1', 'PART', 'FAILED', 'ORD:1001', 'CLOSED', 'NONE', 'DUE'];
  const stories = await Promise.all(references.map(story));
  const filters = ['', '?state=quarantined', '?state=unhandled&reason=no_expectation', '?reference=X'];
  const visitor = visit(inbox);
  const reader = visit(inbox, { by: 'kim', may: ['read'] });
  const paths = [
    '',
    ...filters.map((filter) => `/transitions${filter}`),
    ...stories,
    ...['', ...references, 'LATE', 'X'].map((one) => `/paid?reference=${one}`),
    ...['/bulk?action=retry&state=dead', '/bulk?action=resolve&state=quarantined'],
    ...['/overdue', '/reconcile', '/x', '/transitions.csv', '/overdue.csv'],
  ];
  const pages: string[] = [];
  for (const [path, asking] of [
    ...paths.map((path) => [path, visitor] as const),
    [stories[2] ?? '', reader],
  ] as const) {
    const { status, html } = await asking.get(path);
    const [shown] = /<nav class="nav".*<\/main>/s.exec(html) ?? [html];
    pages.push(`<!-- ${status} ${path} -->\n${shown.trim()}\n`);
  }
  const written = LEFT_OUT.reduce((text, [what, by]) => text.replaceAll(what, by), pages.join('\n'));
  await expect(written).toMatchFileSnapshot('all-pages.txt');
});
