import { testPollution } from './pollution.ts';

// Threat A42, on this project's digest, which vitest.config.ts selects.
testPollution();
