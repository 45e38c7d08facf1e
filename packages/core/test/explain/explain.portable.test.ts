import { runCases } from './cases.ts';

runCases();
