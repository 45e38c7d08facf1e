import * as z from 'zod';
import { AttemptFailure } from './attempt-failure.ts';

/** The envelope of every answer (protocol §2.1). `data` is checked by the operation's own schema. */
const envelope = z.looseObject({ code: z.int(), status: z.string(), message: z.string(), data: z.unknown() });
const errorMessage = z.looseObject({ message: z.string() });

const REPORT =
  'The service and the contract of this SDK disagree: update the SDK, or report it to the service.';
const CHECK_ADDRESS =
  'Check that baseUrl is the address of the payment service and not of a proxy or a website.';

/**
 * Reads the body of a 200: JSON, a successful envelope whose `code` is 200 too, and `data` as `schema` has it.
 *
 * @throws {AttemptFailure} that names the first wrong field by its path, never its value: bodies hold balances.
 */
export function readEnvelope<T>(text: string, schema: z.ZodType<T>): T {
  const parsed = z.safeParse(envelope, parseJson(text));
  if (!parsed.success) throw brokenField(parsed.error);
  const { code, status, message, data } = parsed.data;
  if (status === 'error') {
    throw new AttemptFailure({
      code: 'api_error',
      what: `the service answered HTTP 200 with an error envelope (code ${code})`,
      advice: 'Read serviceMessage; the specification does not show this answer.',
      status: 200,
      serviceMessage: message,
      bodyText: text,
    });
  }
  if (status !== 'success')
    throw invalid('`status` of the envelope is neither "success" nor "error"', REPORT);
  if (code !== 200) throw invalid(`\`code\` of the envelope is ${code}, but the HTTP status is 200`, REPORT);
  const checked = z.safeParse(schema, data);
  if (!checked.success) throw brokenField(checked.error, ['data']);
  return checked.data;
}

/** `message` of an error envelope (protocol §7), when the body is one. A proxy's page is none. */
export function readServiceMessage(text: string): string | undefined {
  try {
    return z.safeParse(errorMessage, JSON.parse(text)).data?.message;
  } catch {
    // Not JSON: the snippet shows what it is, and the status has already decided.
    return undefined;
  }
}

/** An answer with status 200 that the contract does not allow. */
export function invalid(what: string, advice: string = CHECK_ADDRESS, bodyText?: string): AttemptFailure {
  return new AttemptFailure({ code: 'invalid_response', what, advice, status: 200, bodyText });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message cites the text; the snippet shows it scrubbed.
    throw invalid('the answer is not JSON', CHECK_ADDRESS, text);
  }
}

function brokenField(error: z.ZodError, prefix: readonly PropertyKey[] = []): AttemptFailure {
  const [first, ...others] = error.issues;
  const path = z.core.toDotPath([...prefix, ...(first?.path ?? [])]) || 'the answer';
  const expected =
    first?.code === 'invalid_type' ? ` is not the ${first.expected} of the contract` : ' is wrong';
  const rest = others.length === 0 ? '' : `; other wrong fields: ${others.length}`;
  return invalid(`\`${path}\`${expected}${rest}`, REPORT);
}
