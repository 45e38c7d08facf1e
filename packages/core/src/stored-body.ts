import { jsonValue, readCallbackBody } from './verify/callback-body.ts';
import { readUnsignedFields, type UnsignedFields } from './verify/unsigned-fields.ts';

/**
 * The unsigned fields of a stored body, as `callback.unsigned` had them. Proved by nothing (protocol §5.2).
 *
 * @param text The result of `bodyText()`.
 *
 * @example
 * unsignedFields(row.body).transaction_charge; // 15
 */
export function unsignedFields(text: string): UnsignedFields {
  const payload = readCallbackBody(text)?.payload;
  return readUnsignedFields((name) => (payload === undefined ? undefined : jsonValue(payload, name)));
}
