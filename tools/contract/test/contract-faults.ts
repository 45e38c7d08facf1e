/** A change of one fact of the contract. */
export interface ContractFault {
  /** `/components/schemas/Wallet/required/0: removed`. */
  readonly code: string;
  readonly contract: unknown;
}

type Json = Readonly<Record<string, unknown>>;
type Change = readonly [what: string, value: unknown];

/** Keywords for people, which say nothing about a request or a response. */
const PROSE = new Set(['openapi', 'info', 'servers', 'tags', 'operationId', 'summary', 'description']);
/** Their members are named by the service, not by OpenAPI. */
const NAMED =
  /\/(paths|\w+hooks|properties|responses|content|schemas|parameters|securitySchemes|example|payload|data)$/;
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'];
const PLACES = ['query', 'header', 'path', 'cookie'];
const CLOSED: Readonly<Record<string, Json>> = {
  string: { pattern: '^[A-Z]$', enum: ['A'], maxLength: 1, format: 'uuid' },
  number: { maximum: 1 },
  integer: { maximum: 1 },
  boolean: { const: true },
  array: { maxItems: 0 },
  object: { additionalProperties: false },
};

/** Removes and changes every fact. Generated from the document, so that new facts are covered as well. */
export function* contractFaults(contract: unknown): Generator<ContractFault> {
  for (const [path, what, changed] of changesIn(contract, '', (value) => value))
    yield { code: `${path}: ${what}`, contract: changed };
}

/** @param rebuild builds the whole document with another value at this place. */
function* changesIn(
  value: unknown,
  path: string,
  rebuild: (value: unknown) => unknown,
): Generator<readonly [path: string, what: string, changed: unknown]> {
  for (const [what, changed] of changesOf(value, path)) yield [path, what, rebuild(changed)];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (PROSE.has(name) && !NAMED.test(path)) continue;
    const without = (): [string, unknown][] => Object.entries(value).filter(([other]) => other !== name);
    const like = (members: [string, unknown][]): unknown =>
      rebuild(Array.isArray(value) ? members.map(([, one]) => one) : Object.fromEntries(members));
    yield [`${path}/${name}`, 'removed', like(without())];
    if (NAMED.test(path) && !Array.isArray(value))
      yield [`${path}/${name}`, 'renamed', like([...without(), [`${name}_2`, member]])];
    const replaced = (changed: unknown): unknown =>
      rebuild(Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed });
    yield* changesIn(member, `${path}/${name}`, replaced);
  }
}

function* changesOf(value: unknown, path: string): Generator<Change> {
  const keyword = path.slice(path.lastIndexOf('/') + 1);
  const others = keyword === 'type' ? TYPES : keyword === 'in' ? PLACES : [`${value}_2`];
  if (typeof value === 'string') {
    for (const other of others) if (other !== value) yield [`${value} becomes ${other}`, other];
    if (keyword === 'type' && TYPES.includes(value)) yield ['may be null', [value, 'null']];
  }
  if (typeof value === 'number') yield ['one more', value + 1];
  if (typeof value === 'boolean') yield ['negated', !value];
  if (keyword === 'x-known-values' && Array.isArray(value)) yield ['another value', [...value, 'OTHER']];
  if (keyword === 'required' && Array.isArray(value)) yield ['another name', [...value, 'other']];
  if (typeof value !== 'object' || value === null || !('type' in value)) return;
  for (const [name, bound] of Object.entries(CLOSED[String(value.type)] ?? {}))
    if (!NAMED.test(path)) yield [`closed by ${name}`, { ...value, [name]: bound }];
}
