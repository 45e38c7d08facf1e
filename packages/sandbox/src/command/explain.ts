import { readFileSync } from 'node:fs';
import { type Explanation, explain } from '@payment-service/core/explain';
import { CommandError, hasCode } from './command-error.ts';
import type { FoundKeys } from './keys.ts';
import { parseRequest } from './parse-request.ts';

export interface ExplainOptions {
  /** The file of the request; `-` is standard input. */
  readonly request: string;
  readonly tolerance?: number;
  readonly colonIn?: 'merchant_reference' | 'internal_reference';
}

/** Why a recorded callback was refused. */
export function explainRecorded(
  { request, tolerance, colonIn }: ExplainOptions,
  { variables, source }: FoundKeys,
): Explanation {
  const { SIGNING_KEY: signingKey, PUBLIC_KEY: publicKey, SECRET_KEY: secretKey } = variables;
  if (!signingKey)
    throw new CommandError(`SIGNING_KEY is not in ${source}: without it no signature can be computed.`, 2);
  return explain(
    parseRequest(readInput(request)),
    { signingKey, publicKey, secretKey },
    { toleranceSeconds: tolerance, colonIn },
  );
}

function readInput(path: string): Uint8Array {
  try {
    return readFileSync(path === '-' ? process.stdin.fd : path);
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'EACCES', 'EISDIR')) throw cause;
    throw new CommandError(`${path} could not be read.`, 1, { cause });
  }
}
