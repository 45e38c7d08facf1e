// Writes the types of openapi/payment-service.yaml to packages/core/src/generated/.
// `--check` writes nothing and fails when the committed file differs. A test passes another contract after it, to see
// the check fail.
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { exampleTypes, generatedTypes } from './generated-types.ts';

const isCheck = process.argv[2] === '--check';
const contract = process.argv[3]
  ? pathToFileURL(process.argv[3])
  : new URL('../../openapi/payment-service.yaml', import.meta.url);
const generated = new URL('../../packages/core/src/generated/payment-service.ts', import.meta.url);

const text = await generatedTypes(contract);

if (isCheck) {
  const committed = await readFile(generated, 'utf8').catch(() => '');
  if (committed !== text) {
    console.error(
      'packages/core/src/generated/payment-service.ts differs from the contract: run `pnpm generate`.',
    );
    process.exitCode = 1;
  }
} else {
  await writeFile(generated, text);
  await writeFile(new URL('../../apps/examples/own-contract.ts', import.meta.url), await exampleTypes());
}
