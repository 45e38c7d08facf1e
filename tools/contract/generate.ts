/** `pnpm generate`: writes the types of openapi/payment-service.yaml, and of the contract in apps/examples. */
import { writeFile } from 'node:fs/promises';
import openapiTS, { astToString, type OpenAPI3, type SchemaObject } from 'openapi-typescript';
import ts from 'typescript';

const BANNER = '// Generated from openapi/payment-service.yaml by `pnpm generate`. Do not edit.\n\n';

const literal = (value: string): ts.TypeNode =>
  ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral(value));

const anyOtherString = ts.factory.createParenthesizedType(
  ts.factory.createIntersectionTypeNode([
    ts.factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword),
    ts.factory.createTypeLiteralNode([]),
  ]),
);

/** `x-known-values: [A]` becomes `"A" | (string & {})`: an open union. */
function openUnion(schema: SchemaObject): ts.TypeNode | undefined {
  const known: unknown = 'x-known-values' in schema ? schema['x-known-values'] : undefined;
  return Array.isArray(known)
    ? ts.factory.createUnionTypeNode([...known.map(literal), anyOtherString])
    : undefined;
}

/**
 * The types of a contract: the source of packages/core/src/generated/payment-service.ts.
 *
 * @param contract the address of the document, or the parsed document.
 */
export async function generatedTypes(contract: URL | OpenAPI3): Promise<string> {
  const types = await openapiTS(contract, { transform: openUnion, silent: true });
  return BANNER + astToString(types).replaceAll(EMPTY, '');
}

/** What says nothing about the contract: `put?: never`, headers of any name, parameters that are all `never`, and `$defs`. */
const EMPTY =
  /^ *(?:\w+\?: never|headers: \{\s*\[name: string\]: unknown;\s*\}|parameters: \{(?:\s*\w+\?: never;)*\s*\}|export type \$defs = .*);\n/gm;

/** The types of the contract in apps/examples, as the command of openapi-typescript makes them. */
export async function exampleTypes(): Promise<string> {
  const contract = new URL('../../apps/examples/own-contract.yaml', import.meta.url);
  return `// Generated from own-contract.yaml by openapi-typescript.\n\n${astToString(await openapiTS(contract, { silent: true }))}`;
}

if (import.meta.main) {
  const contract = new URL('../../openapi/payment-service.yaml', import.meta.url);
  const generated = new URL('../../packages/core/src/generated/payment-service.ts', import.meta.url);
  await writeFile(generated, await generatedTypes(contract));
  await writeFile(new URL('../../apps/examples/own-contract.ts', import.meta.url), await exampleTypes());
}
