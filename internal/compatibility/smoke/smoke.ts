import { checkAdapters } from './check-adapters.ts';
import { checkClient } from './check-client.ts';
import { checkCore } from './check-core.ts';

/** What a user's program does, as one program: compiled as ESM and as CommonJS, and run on every supported Node. */
async function smoke(): Promise<void> {
  checkCore(process.argv[2] ?? '');
  await checkClient();
  await checkAdapters();
  console.log('core, client and adapters work');
}

smoke().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
