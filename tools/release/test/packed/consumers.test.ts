import { testConsumers } from './consumers.ts';

// consumers.proof.ts runs the programs on every Node, and compiles them with each compiler in both forms.
testConsumers('ends');
