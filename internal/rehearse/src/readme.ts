import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a document tells its reader to install, to save and to start. */
export interface ReadmeProgram {
  readonly packages: readonly string[];
  readonly file: string;
  readonly code: string;
  /** The program of the command, and its arguments. */
  readonly command: readonly string[];
}

/** What the program and the command print when the first callback has arrived. */
export const PRINTED: readonly string[] = ['The callback was accepted.', 'ORD-1001 is paid'];

/** Reads the first callback in three commands. */
export async function readmeProgram(path: string): Promise<ReadmeProgram> {
  const text = await readFile(join(import.meta.dirname, '..', '..', '..', path), 'utf8');
  const part = (pattern: RegExp): string => {
    const found = pattern.exec(text)?.[1];
    if (found === undefined) throw new Error(`${path} has no ${pattern.source}`);
    return found;
  };
  return {
    packages: part(/^npm install (.+)$/m).split(' '),
    file: part(/^Save this as `(.+)`:$/m),
    code: part(/^```ts program\n([\s\S]+?)^```$/m),
    command: part(/^npx (payment-service-sandbox .+)$/m).split(' '),
  };
}
