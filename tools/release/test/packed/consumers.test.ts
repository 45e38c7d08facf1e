import { testConsumers } from './consumers.ts';

// Among others, two copies of core (threat A37). consumers.proof.ts runs the programs on every Node, and compiles them with each compiler in both forms.
testConsumers('ends');
