import { test } from 'vitest';
import { ENGINES } from '../support/merchant.ts';
import { clickTwice } from '../support/twice.ts';

test.each(ENGINES)(
  'threat A70: a second click after any delay, from one page or from two, changes no money, on %s',
  (engine) => clickTwice(engine, true),
);
