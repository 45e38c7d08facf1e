import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { generatedTypes } from '../generate.ts';

/*
 * Type-checks core's client against the types of a changed contract. The changed types exist in memory only: the
 * compiler reads them in place of packages/core/src/generated/payment-service.ts.
 */
const core = fileURLToPath(new URL('../../../packages/core/', import.meta.url));
// The compiler writes paths with slashes on every system.
const generated = join(core, 'src/generated/payment-service.ts').replaceAll('\\', '/');
const contractFile = fileURLToPath(import.meta.resolve('@payment-service/openapi/payment-service.yaml'));
const contractText = readFileSync(contractFile, 'utf8');

const config = ts.getParsedCommandLineOfConfigFile(
  join(core, 'tsconfig.json'),
  {},
  {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (problem) => {
      throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, '\n'));
    },
  },
);
if (config === undefined) throw new Error('packages/core/tsconfig.json is missing.');
const { options } = config;
const host = ts.createCompilerHost(options);
host.getCurrentDirectory = () => dirname(join(core, 'tsconfig.json'));

// Only the generated file differs between two programs; all others are parsed once.
const parsed = new Map<string, ts.SourceFile | undefined>();
const parseFile = host.getSourceFile;
let last: ts.Program | undefined;

/** The errors of core's client, one line each. */
function clientErrors(types: string): string[] {
  host.getSourceFile = (name, target) => {
    if (name === generated) return ts.createSourceFile(name, types, target);
    if (!parsed.has(name)) parsed.set(name, parseFile(name, target));
    return parsed.get(name);
  };
  // What the last program has read and resolved is used again.
  last = ts.createProgram([join(core, 'src/client/index.ts')], options, host, last);
  const program = last;
  if (program.getSourceFile(generated) === undefined) {
    throw new Error('The client no longer imports the generated types: this check compares nothing.');
  }
  // Not of the declarations of Node and of the platform, which take most of the time.
  return program
    .getSourceFiles()
    .filter(({ fileName }) => fileName.includes('/packages/core/src/'))
    .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
}

/** The types of the contract, with these names changed wherever they are keys or appear in a `required` list. */
function typesAfter(...names: readonly string[]): Promise<string> {
  const keys = new RegExp(`(?<=[\\s[])(${names.join('|')})(?=[,:\\]])`, 'g');
  const contract: OpenAPI3 = parse(contractText.replaceAll(keys, 'changed_$1'));
  return generatedTypes(contract);
}

// `typecheck` compiles the client against the unchanged contract.
test('control: the client compiles when a name that it does not read changes in the contract', async () => {
  const types = await typesAfter('transactionRedirect');
  expect(types).toContain('changed_transactionRedirect: {');
  expect(clientErrors(types)).toEqual([]);
});

// In one program, because each takes a second. `data` is of all answers, so that the others are not looked for without it.
test.each([
  [['payment_providers', 'payout_banks', 'merchant_wallets', 'status', 'code', 'message']],
  [['data']],
])('the client does not compile when the contract renames any of %j', async (names) => {
  const types = await typesAfter(...names);
  const errors = clientErrors(types);
  for (const name of names) {
    expect(types).toContain(`changed_${name}: `);
    const says = expect.stringMatching(`packages/core/src/client/.*'"${name}"'`);
    expect(errors).toContainEqual(says);
  }
});
