import { describe, expect, it } from 'vitest';
import { bodyFields, differences } from '../src/body-fields.ts';

const shownIn = (text: string): string[] => bodyFields(text).map(({ path, shown }) => `${path} ${shown}`);

describe('the fields of a kept body', () => {
  it('are shown as they came, with every digit, every member of one name and empty values', () => {
    const text = `{"event": "a:\\"b, c", "n": 1.50, "n": 100000000000000000001,
      "payload": {"list": [1, {"deep": null}, []], "none": {}, "flag": false}, "last": 2}`;
    expect(shownIn(text)).toEqual([
      'event "a:\\"b, c"',
      'n 1.50',
      'n (2) 100000000000000000001',
      'payload.list.0 1',
      'payload.list.1.deep null',
      'payload.list.2 []',
      'payload.none {}',
      'payload.flag false',
      'last 2',
    ]);
    expect(shownIn('{}')).toEqual([]);
  });

  it('hide names and account numbers at every depth, however their names are written', () => {
    const deep = '{"a":{"b":{"c":{"d":{"customer_data":{"e":{"f":"Secret"}}}}}}}';
    const text = `{"payload":{"customer_name":"Secret","customer\\u005fnames":["Secret"],"transaction_account":"256770000987",
      "other_account":2567700009,"customer_pin":1234,"charge_customer":true,"extra":${deep}}}`;
    const shown = shownIn(text).join('\n');
    expect(shown).not.toMatch(/Secret|256770|1234/);
    expect(shown).toContain('payload.transaction_account hidden, ends in 987');
    expect(shown).toContain('payload.charge_customer true');
  });

  it('say which of them the signature proves, and are not misled by a name with a point in it', () => {
    const text = `{"event":"e","t":1,"payload.transaction_status":"x","payload":{"merchant_reference":"m",
      "internal_reference":"i","transaction_type":"y","transaction_status":"s","id":1,"event":"e",
      "extra":{"transaction_type":"y"}}}`;
    const signed = bodyFields(text).filter(({ isSigned }) => isSigned);
    expect(signed.map(({ exact }) => exact)).toEqual(['"e"', '"m"', '"i"', '"y"', '"s"']);
  });

  it('of a body as deep as the limit of bodies allows are read without a failure', () => {
    expect(shownIn(`{"a":${'['.repeat(32_000)}${']'.repeat(32_000)}}`)).toHaveLength(1);
    expect(bodyFields(`[${'1,'.repeat(32_000)}1]`)).toHaveLength(32_001);
    const [long] = bodyFields(`{"a":"${'\\"'.repeat(32_000)}"}`);
    expect(long?.shown).toMatch(/… \(64002 characters\)$/);
  });

  it('that differ are named, with those that only one body has, and hidden ones are compared as well', () => {
    const before = bodyFields('{"a":1,"b":2.0,"customer_name":"Ann","gone":null}');
    const after = bodyFields('{"b":2,"a":1,"customer_name":"Bob","new":"x"}');
    expect(differences(before, after).map((one) => [one.path, one.before?.shown, one.after?.shown])).toEqual([
      ['b', '2.0', '2'],
      ['customer_name', 'hidden', 'hidden'],
      ['gone', 'null', undefined],
      ['new', undefined, '"x"'],
    ]);
    expect(differences(before, before)).toEqual([]);
  });
});
