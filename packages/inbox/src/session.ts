/** What both engines store and give: text, numbers up to 2^53, bytes, null. */
export type SqlValue = string | number | Uint8Array | null;

export type Row = Readonly<Record<string, SqlValue | undefined>>;

export interface Rows {
  readonly rows: readonly Row[];
  /** Rows given or changed. */
  readonly rowCount: number;
}

/** Runs statements of the inbox itself, with `$1`, `$2`, … for values: the same text on both engines. */
export interface Session {
  query(text: string, values?: readonly SqlValue[]): Promise<Rows>;
}

export function textOf(row: Row, name: string): string {
  const value = row[name];
  if (typeof value !== 'string') throw unexpected(name);
  return value;
}

export function optionalText(row: Row, name: string): string | undefined {
  return row[name] === null || row[name] === undefined ? undefined : textOf(row, name);
}

export function numberOf(row: Row, name: string): number {
  const value = row[name];
  if (typeof value !== 'number') throw unexpected(name);
  return value;
}

export function optionalNumber(row: Row, name: string): number | undefined {
  return row[name] === null || row[name] === undefined ? undefined : numberOf(row, name);
}

export function bytesOf(row: Row, name: string): Uint8Array {
  const value = row[name];
  if (!(value instanceof Uint8Array)) throw unexpected(name);
  return value;
}

export function optionalHex(row: Row, name: string): string | undefined {
  return row[name] === null || row[name] === undefined ? undefined : hexOf(bytesOf(row, name));
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

export function fromHex(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex');
}

function unexpected(name: string): TypeError {
  return new TypeError(`The inbox's column ${name} does not hold what its migrations made it for.`);
}
