import assert from 'node:assert/strict';
import { checkAdapters } from './check-adapters.ts';
import { checkClient } from './check-client.ts';
import { checkCore } from './check-core.ts';
import { EXPECTED_STATUSES, encodedStatuses } from './encoded-bodies.ts';

// A warning of the process, such as one of a leak, fails the program; what Node itself calls experimental does not.
process.on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') throw warning;
});

/** The tasks of a user's program in one program: compiled as ESM and as CommonJS, and run on every supported Node. */
async function smoke(): Promise<void> {
  checkCore(process.argv[2] ?? '');
  await checkClient();
  await checkAdapters();
  assert.deepEqual(await encodedStatuses(), EXPECTED_STATUSES);
  console.log('core, client and adapters work');
}

smoke().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
