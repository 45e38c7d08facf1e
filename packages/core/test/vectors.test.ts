import { runVectors } from './vectors/run-vectors.ts';

runVectors('node:crypto');
