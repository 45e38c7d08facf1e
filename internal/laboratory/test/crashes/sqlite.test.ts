import { test } from 'vitest';
import { expectSurvived } from '../support/crash-run.ts';

test('after eight kills on SQLite, what was acknowledged is stored, and each payment is applied exactly once', () => {
  expectSurvived('sqlite');
});
