import { expect, test } from 'vitest';
import { keysOf } from './support/api.ts';
import { open } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({});
const HEADER = 'Date,Reference,Internal reference,Type,Status,Currency,Amount,Charge';

test('the statement lists decided transactions with exact amounts, whether or not their callbacks were sent', () => {
  stage.collect({ misbehave: { lost: true } });
  stage.collect({ merchant_reference: 'ORD-2', outcome: 'failed' });
  stage.collect({ merchant_reference: 'ORD-3', mode: 'pending' });
  expect(stage.sandbox.statement().split('\r\n')).toEqual([
    HEADER,
    expect.stringMatching(/^\d{4}-.*Z,ORD-1,SBX-\d+-\w+,COLLECTION,COMPLETED,UGX,500,15$/),
    expect.stringMatching(/,ORD-2,SBX-\d+-\w+,COLLECTION,FAILED,UGX,500,15$/),
    '',
  ]);
});

// Threat A56: a customer may choose what is part of a reference.
test('the statement quotes a reference that a spreadsheet would read as a formula, and the special characters of CSV', () => {
  const references = ['=1+1', '+1', '-1', '@A1', 'a,b', 'a"b', 'a=b'];
  for (const merchant_reference of references) stage.collect({ merchant_reference });
  const shown = [...stage.sandbox.statement().matchAll(/Z,(.*),SBX-/g)].map(([, reference]) => reference);
  expect(shown).toEqual(["'=1+1", "'+1", "'-1", "'@A1", '"a,b"', '"a""b"', 'a=b']);
});

test('the statement is downloaded from the API with both keys, and from the dashboard', async () => {
  const { sandbox } = stage;
  stage.collect();
  const signedIn = sandbox.fetch('http://127.0.0.1/sandbox/statement', { headers: keysOf(sandbox) });
  for (const response of [await signedIn, await sandbox.fetch('http://127.0.0.1/statement.csv')]) {
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toContain('attachment');
    expect(await response.text()).toBe(sandbox.statement());
  }
  expect((await open(sandbox, '/sandbox/statement')).status).toBe(401);
  expect((await stage.call('POST', '/sandbox/statement', {})).status).toBe(405);
  expect(await stage.show('/transactions')).toContain('href="/statement.csv"');
});
