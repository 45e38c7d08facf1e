/** One value of a callback's body, for a person. */
export interface BodyField {
  /** Where it is: "payload.request_amount". */
  readonly path: string;
  /** The JSON as received, truncated when long; a name or an account number is hidden. */
  readonly shown: string;
  /** The complete JSON as received. For comparison only. */
  readonly exact: string;
  /** Whether the signature proves it (protocol §5.2). */
  readonly isSigned: boolean;
}

/** A value that differs between two bodies; undefined on the side that does not have it. */
export interface Difference {
  readonly path: string;
  readonly before: BodyField | undefined;
  readonly after: BodyField | undefined;
}

const SIGNED_IN_PAYLOAD = new Set<string | number | undefined>([
  'merchant_reference',
  'internal_reference',
  'transaction_type',
  'transaction_status',
]);
/** More would make a page that no person reads; a body of 64 KiB can hold thousands. */
export const MAX_FIELDS = 100;
const MAX_DEPTH = 6;
const MAX_SHOWN = 160;
const LEXEME = /"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Every value of a body, in the order in which they came. It reads the text itself: a parsed number has lost digits, and a
 * parsed object has lost the first of two members with one name.
 *
 * @param text JSON that was parsed before.
 */
export function bodyFields(text: string): BodyField[] {
  const fields: BodyField[] = [];
  const parents: (string | number)[] = [];
  const seen = new Map<string, number>();
  let name: string | number = '';
  let last = '';
  const push = (exact: string): void => {
    fields.push(fieldAt([...parents.slice(1, MAX_DEPTH), name], exact, parents.length > MAX_DEPTH));
  };
  for (const [lexeme] of text.matchAll(LEXEME)) {
    if (lexeme === '{' || lexeme === '[') {
      parents.push(name);
      name = lexeme === '[' ? 0 : '';
    } else if (lexeme === '}' || lexeme === ']') {
      name = parents.pop() ?? '';
      const isEmpty = last === '{' || last === '[';
      if (isEmpty && parents.length > 0) push(last + lexeme);
    } else if (lexeme === ':') {
      name = nameIn(last);
      // What looked like a value was the name of one.
      fields.pop();
    } else if (lexeme === ',') {
      if (typeof name === 'number') name += 1;
    } else {
      push(lexeme);
    }
    last = lexeme;
  }
  return fields.map((field) => numbered(field, seen));
}

/** What differs, in the order of the first body, and then what only the second one has. */
export function differences(before: readonly BodyField[], after: readonly BodyField[]): Difference[] {
  const [earlier, later] = [byPath(before), byPath(after)];
  const paths = new Set([...earlier.keys(), ...later.keys()]);
  return [...paths]
    .map((path) => ({ path, before: earlier.get(path), after: later.get(path) }))
    .filter((pair) => pair.before?.exact !== pair.after?.exact);
}

function byPath(fields: readonly BodyField[]): Map<string, BodyField> {
  return new Map(fields.map((field) => [field.path, field]));
}

function fieldAt(parts: readonly (string | number)[], exact: string, isTooDeep: boolean): BodyField {
  const path = cut(parts.join('.'));
  // What stands above it is not known there: it may be a person's.
  const isPersonal = isTooDeep || parts.some((part) => /^customer_|_account$/.test(String(part)));
  return { path, exact, shown: isPersonal ? hidden(exact) : cut(exact), isSigned: isSigned(parts) };
}

/** By the parts: a member of the top level may be named "payload.transaction_status". */
function isSigned([parent, member, ...deeper]: readonly (string | number)[]): boolean {
  if (member === undefined) return parent === 'event';
  return parent === 'payload' && deeper.length === 0 && SIGNED_IN_PAYLOAD.has(member);
}

/** A name that appears twice gets a number: the service's signature was made from one of them. */
function numbered(field: BodyField, seen: Map<string, number>): BodyField {
  const count = (seen.get(field.path) ?? 0) + 1;
  seen.set(field.path, count);
  return count === 1 ? field : { ...field, path: `${field.path} (${count})` };
}

/** The last three characters, as on the order's page, where enough others stay hidden. */
function hidden(exact: string): string {
  if (!exact.startsWith('"') && !/^\d/.test(exact)) return exact;
  const text = exact.replaceAll('"', '');
  return /^\+?\d{8,}$/.test(text) ? `hidden, ends in ${text.slice(-3)}` : 'hidden';
}

function cut(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)`;
}

function nameIn(lexeme: string): string {
  const name: unknown = JSON.parse(lexeme);
  return typeof name === 'string' ? name : '';
}
