import { testPollution } from './pollution.ts';

// threat A42, on the digest of this project: vitest.config.ts says which.
testPollution();
