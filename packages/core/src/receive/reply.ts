/** An answer, in the terms that every framework shares. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

// With the charset: Fastify adds it by itself, and the answers are the same everywhere.
const JSON_TYPE = 'application/json; charset=utf-8';

/** Constant answers: nothing about the request, the keys or the reason comes back over the network (threat A22). */
export function errorReply(
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return jsonReply(status, { error }, headers);
}

export function jsonReply(
  status: number,
  value: object,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { status, headers: { 'content-type': JSON_TYPE, ...headers }, body: JSON.stringify(value) };
}
