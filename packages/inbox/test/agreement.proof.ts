import { describe, expect, test } from 'vitest';
import { countOf, FIRST_SEED, playAgreement } from './agreement/agree.ts';
import { ENGINES } from './support/merchant.ts';

const [count, orders] = [countOf(1000), countOf(1000)];
const LONG = { timeout: 3_600_000 };

describe.each(ENGINES)(`histories from seed ${FIRST_SEED} on %s`, (engine) => {
  test(
    'after each step of a history, the payment, the lists, the counts, the reports and the credits agree, and in the end the command, the console and its charts',
    LONG,
    async () => {
      expect(await playAgreement(engine, 'histories', count)).toBe('');
    },
  );

  test(
    'in whatever order its reports and its expectation arrive, a payment ends in the same state with the same credits',
    LONG,
    async () => {
      expect(await playAgreement(engine, 'orders', orders)).toBe('');
    },
  );
});
