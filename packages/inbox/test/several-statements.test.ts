import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { refuseSeveralStatements } from '../src/sqlite/several-statements.ts';

describe('one statement at a time', () => {
  it.each([
    'select 1',
    'select 1;',
    'select 1 ; -- the end',
    'select 1 /* a; b */;\n',
    'select \';\' , "a;b", `c;d`, [e;f]',
    "select 'it''s; fine'",
    "insert into t values ('--', '/*')",
    '-- one; two\nselect 1',
    "select 'does not end; ",
  ])('%j is one', (text) => {
    expect(() => refuseSeveralStatements(text)).not.toThrow();
  });

  it.each([
    'select 1; select 2',
    'select 1;;select 2',
    "select ''; select 2",
    'select 1; /* x */ commit',
    ';select 1',
  ])('%j is several', (text) => {
    expect(() => refuseSeveralStatements(text)).toThrow(ConfigurationError);
  });
});
