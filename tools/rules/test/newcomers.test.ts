import { testNewcomers } from './newcomers.ts';

// One of each kind: nothing is wrong, the program refuses, the command explains an answer, and it finds no answer. The words
// for each of them have tests in core (explain-outcome.test.ts), and newcomers.proof.ts makes every mistake.
testNewcomers(['nothing', 'a missing key', 'the key of another account', 'another port']);
