import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { codeBlocks } from '../../src/extracted.ts';
import { workspacePackages } from '../../src/manifests.ts';
import { fencedBlocks, section } from '../../src/markdown.ts';
import { root, type TextFile } from '../../src/repository.ts';
import { importedModules } from '../arrows/foreign-imports.ts';
import { withRunningProgram } from './running-program.ts';

export const HEADING = '## The first callback in three commands';
/** The number of lines on the first screen. */
const MAX_LINES_BEFORE = 12;
const COMMAND = 'payment-service-sandbox';

/**
 * The obstacles between a reader of a README and the first callback: runs its three steps, with the packages of the workspace
 * instead of the installed ones, and a free port instead of 3000.
 *
 * @param printed what the program prints about the callback.
 */
export async function firstCallbackProblems(
  document: TextFile,
  folder: string,
  printed: string,
): Promise<readonly string[]> {
  const lines = document.text.split('\n');
  const at = lines.indexOf(HEADING);
  if (at === -1) return [`it has no "${HEADING}"`];
  const part = { path: document.path, text: section(document.text, HEADING) };
  const commands = fencedBlocks(part.text)
    .filter(({ info }) => info === 'sh')
    .flatMap(({ code }) =>
      code
        .trim()
        .replaceAll(/\\\n */g, '')
        .split('\n'),
    );
  const [program] = codeBlocks(part, 'program');
  const [install = '', start = ''] = commands;
  const [, address = '', file = ''] =
    new RegExp(`^npx ${COMMAND} --callback-url (\\S+) -- node (\\S+)$`).exec(start) ?? [];
  if (program === undefined || commands.length !== 2 || file === '')
    return ['it is not: install, a program, npx payment-service-sandbox … -- node <file>'];
  const problems = [
    ...(at > MAX_LINES_BEFORE ? [`it begins at line ${at + 1}, below the first screen`] : []),
    ...(part.text.includes(`\`${file}\``) ? [] : [`it does not say to save the program as ${file}`]),
    ...missingPackages(install, program.code).map((name) => `${name} is not installed`),
  ];
  const home = join(folder, document.path.replaceAll('/', '-'));
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, file), program.code);
  try {
    const { output } = await withRunningProgram(
      commandFile(),
      // `node` in the command is the running one.
      { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) },
      async ({ hasPrinted }) => {
        await hasPrinted('The callback was accepted.');
        await hasPrinted(printed);
      },
      {
        cwd: home,
        argumentsFor: (port) => {
          const url = new URL(address);
          url.port = String(port);
          return ['--port', '0', '--callback-url', url.href, '--', 'node', file];
        },
      },
    );
    if (output.includes('NODE_ENV is not set')) problems.push('a verifier warns about the sandbox key');
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  return problems;
}

function missingPackages(install: string, code: string): readonly string[] {
  const [, names = ''] = /^npm install (.+)$/.exec(install) ?? [];
  const needed = importedModules(code)
    .filter((module) => !module.startsWith('node:'))
    .map((module) => module.split('/', module.startsWith('@') ? 2 : 1).join('/'));
  return [...needed, '@payment-service/sandbox'].filter((name) => !names.split(' ').includes(name));
}

export function commandFile(): string {
  const found = workspacePackages().find(({ manifest }) => COMMAND in (manifest.bin ?? {}));
  return join(root, found?.folder ?? '', found?.manifest.bin?.[COMMAND] ?? '');
}
