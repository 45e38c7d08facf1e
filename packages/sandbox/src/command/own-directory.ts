import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from './command-error.ts';

/** In the folder where the command runs, so that each project has a sandbox of its own. */
const DIRECTORY = '.payment-service-sandbox';

/** Where `start` leaves its address and keys for the other commands. */
export const OWN_KEYS_FILE: string = join(DIRECTORY, 'keys.env');

/** The file of the state, in a directory that version control leaves out. Makes the directory. */
export function ownStateFile(): string {
  try {
    mkdirSync(DIRECTORY, { recursive: true });
    writeFileSync(join(DIRECTORY, '.gitignore'), '*\n');
  } catch (cause) {
    throw new CommandError(
      `${DIRECTORY} could not be made in the working directory. Name another file with --file, or start with --memory.`,
      1,
      { cause },
    );
  }
  return join(DIRECTORY, 'state.sqlite');
}
