import { runVectors } from './vectors/run-vectors.ts';

// Belongs to the project `portable` of vitest.config.ts; run without it, its first test fails.
runVectors('@noble/hashes');
