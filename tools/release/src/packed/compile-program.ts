import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ended, execute } from '@payment-service/release/toolchains';

/** How a user's TypeScript project is set up. */
export interface ConsumerSetup {
  readonly name: string;
  readonly type: 'module' | 'commonjs';
  readonly module: 'nodenext' | 'node16';
}

export const CONSUMERS: readonly ConsumerSetup[] = [
  { name: 'ESM', type: 'module', module: 'nodenext' },
  { name: 'CommonJS', type: 'commonjs', module: 'node16' },
];

export interface Compiler {
  /** The path of its `tsc`. */
  readonly tsc: string;
  /** Whether declarations are trusted without a check. If not, those of the frameworks are checked too. */
  readonly skipLibCheck: boolean;
}

const smoke = join(import.meta.dirname, '..', '..', 'smoke');

/** Copies the smoke programs into a separate project in `scratch`, and compiles them against the packed types. */
export async function compileProgram(
  scratch: string,
  folder: string,
  { type, module }: ConsumerSetup,
  { tsc, skipLibCheck }: Compiler,
  files: readonly string[],
): Promise<Ended> {
  const project = join(scratch, folder);
  await mkdir(project, { recursive: true });
  for (const file of files) await cp(join(smoke, file), join(project, file));
  const compilerOptions = {
    target: 'ES2022',
    module,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck,
    types: ['node'],
    rewriteRelativeImportExtensions: true,
    outDir: 'out',
    rootDir: '.',
  };
  await writeFile(join(project, 'package.json'), JSON.stringify({ type }));
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const args = [tsc, '-p', '.', '--pretty', 'false'];
  return execute({ command: process.execPath, args, cwd: project });
}
