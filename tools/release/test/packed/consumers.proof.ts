import { testConsumers } from './consumers.ts';

testConsumers('every');
