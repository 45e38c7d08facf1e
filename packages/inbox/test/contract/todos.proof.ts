import { test } from 'vitest';
import { SESSION } from '../support/command.ts';
import { ENGINES } from '../support/merchant.ts';
import { performTodos } from '../support/todos.ts';

const FACES = ENGINES.flatMap((engine) =>
  (['console', 'command'] as const).map((face) => ({ engine, face })),
);

test.each(FACES)(
  'decision D77: on $engine, what a reason tells an operator to do applies the money once, through the $face',
  SESSION,
  ({ engine, face }) => performTodos(engine, face),
);
