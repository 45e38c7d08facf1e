import { readFileSync } from 'node:fs';
import { type ExplainedRequest, type Explanation, explain } from '@payment-service/core/explain';
import { parseRequest } from '../http/recorded-request.ts';
import { SandboxRefusal } from '../state/refusal.ts';
import { CommandError, hasCode, reasonOf, UsageError } from './failures.ts';
import type { FoundKeys } from './session.ts';

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
    throw new UsageError(`SIGNING_KEY is not in ${source}: without it no signature can be computed.`);
  const keys = { signingKey, publicKey, secretKey };
  return explain(readRequest(request), keys, { toleranceSeconds: tolerance, colonIn });
}

function readRequest(path: string): ExplainedRequest {
  try {
    return parseRequest(readInput(path));
  } catch (cause) {
    throw cause instanceof SandboxRefusal ? new CommandError(cause.message, { cause }) : cause;
  }
}

function readInput(path: string): Buffer {
  try {
    return readFileSync(path === '-' ? process.stdin.fd : path);
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'EACCES', 'EISDIR')) throw cause;
    throw new CommandError(`${path} could not be read: ${reasonOf(cause)}.`, { cause });
  }
}
