import { describe, expect, test } from 'vitest';
import { call, collection } from './support/api.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
const HEADER = 'Date,Reference,Internal reference,Type,Status,Currency,Amount,Charge';

describe('the statement of the sandbox', () => {
  test('lists decided transactions with exact amounts, whether or not their callbacks were sent', () => {
    stage.open();
    stage.sandbox.collect({ ...collection, misbehave: { lost: true } });
    stage.sandbox.collect({ ...collection, merchant_reference: 'ORD-2', outcome: 'failed' });
    stage.sandbox.collect({ ...collection, merchant_reference: 'ORD-3', mode: 'pending' });
    const [header, ...rows] = stage.sandbox.statement().split('\r\n');
    expect(header).toBe(HEADER);
    expect(rows).toEqual([
      expect.stringMatching(/^\d{4}-.*Z,ORD-1,SBX-\d+-\w+,COLLECTION,COMPLETED,UGX,500,15$/),
      expect.stringMatching(/,ORD-2,SBX-\d+-\w+,COLLECTION,FAILED,UGX,500,15$/),
      '',
    ]);
  });

  // Threat A56: a customer may choose what is part of a reference.
  test('quotes a reference that a spreadsheet would read as a formula, and the special characters of CSV', () => {
    stage.open();
    const references = ['=1+1', '+1', '-1', '@A1', 'a,b', 'a"b', 'a=b'];
    for (const merchant_reference of references) stage.sandbox.collect({ ...collection, merchant_reference });
    const shown = stage.sandbox
      .statement()
      .split('\r\n')
      .slice(1, -1)
      .map((line) => /Z,(.*),SBX-/.exec(line)?.[1]);
    expect(shown).toEqual(["'=1+1", "'+1", "'-1", "'@A1", '"a,b"', '"a""b"', 'a=b']);
  });

  test('is downloaded from the API with both keys, and from the dashboard', async () => {
    const sandbox = stage.open();
    sandbox.collect(collection);
    const { publicKey, secretKey } = sandbox.account;
    const get = (path: string, headers: Record<string, string> = {}) =>
      sandbox.fetch(`http://127.0.0.1${path}`, { headers });
    const keys = { 'public-key': publicKey, 'secret-key': secretKey };
    for (const response of [await get('/sandbox/statement', keys), await get('/statement.csv')]) {
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(response.headers.get('content-disposition')).toContain('attachment');
      expect(await response.text()).toBe(sandbox.statement());
    }
    expect((await get('/sandbox/statement')).status).toBe(401);
    expect((await call(sandbox, 'POST', '/sandbox/statement', {})).status).toBe(405);
    expect(await stage.show('/transactions')).toContain('href="/statement.csv"');
  });
});
