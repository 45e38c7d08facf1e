import { test } from 'vitest';
import { expectSurvived } from '../support/crash-run.ts';

test('after eight kills on PostgreSQL, what was acknowledged is stored, and each payment is applied exactly once', () => {
  expectSurvived('postgres');
});
