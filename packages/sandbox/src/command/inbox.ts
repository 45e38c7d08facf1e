import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CommandError, hasCode } from './command-error.ts';

const PACKAGE = '@payment-service/inbox';
const COMMAND = 'payment-service-inbox';

/** Runs the inbox's own command of this folder's project; resolves with its exit code. */
export async function forwardToInbox(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [inboxCommand(), ...args], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}

function inboxCommand(): string {
  // Of the project, and not of this package: the inbox must be the version that its program uses.
  const { resolve } = createRequire(join(process.cwd(), 'package.json'));
  try {
    const manifest = resolve(`${PACKAGE}/package.json`);
    const { bin }: { bin: Record<string, string> } = JSON.parse(readFileSync(manifest, 'utf8'));
    return join(dirname(manifest), bin[COMMAND] ?? '');
  } catch (cause) {
    if (!hasCode(cause, 'MODULE_NOT_FOUND')) throw cause;
    throw new CommandError(
      `${PACKAGE} is not installed in this folder. Run this in the folder of your program, or: npm install ${PACKAGE}`,
      1,
      { cause },
    );
  }
}
