// Writes the types of openapi/payment-service.yaml into packages/core/src/generated/.
// `--check` writes nothing and fails when the committed file is not what the contract gives; another contract can be
// named behind it, so that a test can see the check fail.
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const isCheck = process.argv[2] === '--check';
const contract = process.argv[3]
  ? pathToFileURL(process.argv[3])
  : new URL('../../openapi/payment-service.yaml', import.meta.url);
const generated = new URL('../../packages/core/src/generated/payment-service.ts', import.meta.url);

const literal = (value) => ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral(value));
const anyOtherString = ts.factory.createParenthesizedType(
  ts.factory.createIntersectionTypeNode([
    ts.factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword),
    ts.factory.createTypeLiteralNode([]),
  ]),
);

/** `x-known-values: [A]` becomes `"A" | (string & {})`: an open union. */
function openUnion(schema) {
  const known = schema['x-known-values'];
  return Array.isArray(known)
    ? ts.factory.createUnionTypeNode([...known.map(literal), anyOtherString])
    : undefined;
}

const banner = '// Generated from openapi/payment-service.yaml by `pnpm generate`. Do not edit.\n\n';
const text = banner + astToString(await openapiTS(contract, { transform: openUnion, silent: true }));

if (isCheck) {
  const committed = await readFile(generated, 'utf8').catch(() => '');
  if (committed !== text) {
    console.error(
      'packages/core/src/generated/payment-service.ts is not what the contract gives: run `pnpm generate`.',
    );
    process.exitCode = 1;
  }
} else {
  await writeFile(generated, text);
}
