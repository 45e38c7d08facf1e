/** The thirty mistakes of newcomers: the output of the command and the program is scored, from real runs. */
import { sideBySide } from '@payment-service/release/toolchains';
import { beforeAll, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../src/extracted.ts';
import { MISTAKES, type Mistake, scoreOf } from './mistakes.ts';
import { outputOf } from './run-mistake.ts';

const outputs = new Map<string, string>();
/** Waiting processes cost little, so this many run concurrently. */
const AT_A_TIME = 5;

beforeAll(async () => {
  const folder = emptyFolder('newcomers');
  await sideBySide(MISTAKES, AT_A_TIME, async (mistake) => {
    outputs.set(mistake.name, await outputOf(mistake, folder));
  });
}, 400_000);

test.each(MISTAKES)('a newcomer who has $name reads the cause and the fix', (mistake) => {
  const output = outputs.get(mistake.name) ?? '';
  expect({ score: scoreOf(mistake, output), output }).toMatchObject({ score: 2 });
});

test('thirty mistakes score at least 57 of 60', () => {
  const scores = MISTAKES.map((mistake) => scoreOf(mistake, outputs.get(mistake.name) ?? ''));
  expect(scores).toHaveLength(30);
  expect(scores.reduce((sum, score) => sum + score, 0)).toBeGreaterThanOrEqual(57);
});

describe('controls', () => {
  test.each(MISTAKES.filter(({ cause }) => !cause.test('The callback was accepted.')))(
    'an output of a genuine callback, and one that says what it does not know, score 0 for $name',
    (mistake) => {
      const accepted = outputs.get('parsers of forms, JSON and text before the route') ?? '';
      expect(accepted).toContain('The callback was accepted.');
      expect(scoreOf(mistake, accepted)).toBe(0);
      expect(scoreOf(mistake, 'It did not work. Check the configuration, and try again.')).toBe(0);
    },
  );

  test('no output has the full score for a mistake that another program makes', () => {
    const mistaken = MISTAKES.filter(({ cause }) => !cause.test('The callback was accepted.'));
    const isMixedUp = (one: Mistake, other: Mistake): boolean =>
      String(one.fix) !== String(other.fix) && scoreOf(other, outputs.get(one.name) ?? '') === 2;
    expect(
      mistaken.flatMap((one) =>
        mistaken.filter((other) => isMixedUp(one, other)).map((other) => `${one.name}: ${other.name}`),
      ),
    ).toEqual([]);
  });
});
