import { appendFileSync, closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Request } from './judge-history.ts';

/**
 * What was asked and answered: a file that is only appended to, in no database, so that nothing which loses a callback could
 * lose its line too.
 */
export class HistoryRecord {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  add(request: Request): void {
    appendFileSync(this.#file, `${JSON.stringify(request)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

export async function readRequests(path: string): Promise<readonly Request[]> {
  const requests: Request[] = [];
  const file = await open(path);
  for await (const line of file.readLines()) requests.push(JSON.parse(line));
  return requests;
}
