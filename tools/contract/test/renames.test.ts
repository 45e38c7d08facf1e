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

/** The errors of core's client, one line each. */
function clientErrors(types: string): string[] {
  host.getSourceFile = (name, target) => {
    if (name === generated) return ts.createSourceFile(name, types, target);
    if (!parsed.has(name)) parsed.set(name, parseFile(name, target));
    return parsed.get(name);
  };
  const program = ts.createProgram([join(core, 'src/client/index.ts')], options, host);
  if (program.getSourceFile(generated) === undefined) {
    throw new Error('The client no longer imports the generated types: this check compares nothing.');
  }
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
}

/** The types of the contract, with a name changed wherever it is a key or appears in a `required` list. */
function typesAfter(from: string, to: string): Promise<string> {
  const contract: OpenAPI3 = parse(
    contractText.replaceAll(new RegExp(`(?<=[\\s[])${from}(?=[,:\\]])`, 'g'), to),
  );
  return generatedTypes(contract);
}

test('control: the client compiles against the unchanged contract', async () => {
  expect(clientErrors(await typesAfter('nothing', 'nothing'))).toEqual([]);
});

test('control: the client compiles when a name that it does not read changes in the contract', async () => {
  const types = await typesAfter('transactionRedirect', 'changed_name');
  expect(types).toContain('changed_name: {');
  expect(clientErrors(types)).toEqual([]);
});

test.each(['payment_providers', 'payout_banks', 'merchant_wallets', 'data', 'status', 'code', 'message'])(
  'the client does not compile when the contract renames %s',
  async (name) => {
    const types = await typesAfter(name, 'changed_name');
    expect(types).toContain('changed_name: ');
    expect(clientErrors(types)).toContainEqual(expect.stringContaining('packages/core/src/client/'));
  },
);
