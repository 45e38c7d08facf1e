import { beforeEach, expect, test } from 'vitest';
import { open, part, problem, textOf } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({ retry: { max_attempts: 1 } });
const { show, read, submit } = stage;
beforeEach(() => stage.deliver());

test('a composition shows the body, the difference, the signed string and whether it will verify, and sends nothing', async () => {
  expect(await read('/compose/1001')).toContain('Changes of the body No difference.');
  const text = await show('/compose/1001?forged_amount=1&status=REVERSED&t_offset_seconds=-3600');
  expect(textOf(text)).toContain('The signature will verify');
  expect(textOf(text)).toContain('1 h before it was sent');
  const marks = [...text.matchAll(/<(?:del|ins)>(.*?)<\/(?:del|ins)>/g)].map(([line]) => textOf(line));
  expect(marks).toEqual([
    '- "request_amount": 500,',
    '+ "request_amount": 1,',
    '- "transaction_amount": 500,',
    '+ "transaction_amount": 1,',
    '- "total_credit": 485,',
    '+ "total_credit": -14,',
    '- "transaction_status": "COMPLETED",',
    '+ "transaction_status": "REVERSED",',
  ]);
  expect(stage.sandbox.deliveries()).toHaveLength(1);
});

test('a composition with the signature kept says that it will be refused and why', async () => {
  const text = await read('/compose/1?status=FAILED&signature=keep');
  expect(text).toContain('The signature will be refused');
  expect(text).toContain('No signing key makes this signature.');
  expect(await read('/compose/1001?bad_signature=yes')).toContain('Another key, on purpose');
});

test('presets are kept, and combine with each other and with typed values; groups with a change are open', async () => {
  const query = 'forged_amount=&event=transaction.reviewed&late_ms=5&preset=forged_first';
  const text = await show(`/compose/1001?${query}`);
  const kept = { forged_amount: 1, duplicate: 1, late_ms: 5, event: 'transaction.reviewed' };
  for (const [name, value] of Object.entries(kept))
    expect(text).toMatch(new RegExp(`name="${name}"[^>]* value="${value}"`));
  const edited = await show('/compose/1001?preset=edit_body');
  expect(edited).toMatch(/<textarea id="compose-body"[^>]*>\n\{\n {2}&quot;event&quot;/);
  const opened = (html: string) => [...html.matchAll(/id="group-(\w+)" open/g)].map(([, group]) => group);
  const all = [text, edited, await show('/compose/1001')].map(opened);
  expect(all).toEqual([['money', 'time', 'fields'], ['body'], []]);
  // The Enter key, which presses the first button of a form, sends nothing.
  const [, first] = /<form method="post".*?(<button.*?>)/s.exec(part(text, 'main', 'main')) ?? [];
  expect(first).toContain('formmethod="get" formaction="/compose/1001"');
});

test('a composition is sent as shown, with copies, and leads to the delivery', async () => {
  const fields = { extra_fields: '{"note":"hello"}', omit_fields: 'customer_name, id' };
  const typed = { duplicate: '1', retry: 'none', ...fields };
  const { status, location } = await submit('compose/1001', typed, '/compose/1001');
  expect([status, location, stage.sandbox.deliveries().length]).toEqual([303, '/deliveries/2', 3]);
  await stage.sandbox.idle();
  const { note, customer_name, id } = JSON.parse(stage.merchant.received[1]?.body ?? '').payload;
  expect([note, customer_name, id]).toEqual(['hello', undefined, undefined]);
  const text = await read('/deliveries/2');
  expect(text).toContain('What differs from the genuine callback');
  expect(text).toContain('+ "note": "hello" added');
});

test('a preset that is selected and not added yet is sent as well', async () => {
  await submit('compose/1001', { preset: 'forged_amount', status: 'REVERSED' });
  await stage.sandbox.idle();
  expect(stage.payloads()[1]).toMatchObject({ transaction_amount: 1, transaction_status: 'REVERSED' });
});

test('an edited body is sent as typed, with its line breaks', async () => {
  await submit('compose/1', { body: 'not\r\nJSON', signature: 'keep' });
  const second = stage.sandbox.deliveries()[1];
  expect(second?.body).toBe('not\nJSON');
  const { location } = await submit(`compose/${second?.id}`, { body: 'other' });
  expect(await read(location ?? '')).toContain(
    `What differs from delivery ${second?.id} - not was - JSON was + other added`,
  );
});

test.each([
  ['duplicate', '99', 'Enter a whole number from 0 to 10.'],
  ['extra_fields', 'note', 'This must be a JSON object, such as {"note": "hello"}.'],
  ['forged_amount', '1.5', 'This must be exact, with at most 0 decimals in UGX.'],
  ['callback_url', 'http://elsewhere.example/', 'This must be on this computer'],
  ['forged_currency', 'usd', 'Enter three capital letters, such as USD.'],
])('a composition with %s=%s is refused at the field, shown or sent: %s', async (field, value, words) => {
  const sent = await submit('compose/1001', { [field]: value });
  const asked = await open(stage.sandbox, `/compose/1001?${new URLSearchParams({ [field]: value })}`);
  for (const { status, text } of [sent, asked]) {
    expect([400, 422]).toContain(status);
    expect(problem(text, `compose-${field}`)).toContain(words);
    expect(text).toContain(value);
  }
  expect(stage.sandbox.deliveries()).toHaveLength(1);
});

test('markup in a body is escaped', async () => {
  const body = '</textarea><script>1</script>';
  expect(await show(`/compose/1001?${new URLSearchParams({ body })}`)).not.toContain('<script>1');
});
