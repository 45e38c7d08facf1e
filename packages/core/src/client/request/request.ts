/** The methods that `request()` sends. GET and HEAD are retried like the reference calls; all others are sent once. */
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** A value in a query or a path. It is percent-encoded. */
export type Parameter = string | number | boolean;

/**
 * A schema that implements Standard Schema, version 1, as those of zod, valibot and arktype do. Only the part that is used, so
 * that nothing needs to be installed.
 */
export interface Schema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
  };
}

/** The result of a schema for one value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

/** The options of every `request()`, with or without the contract of an endpoint. An unknown option is refused. */
export interface CommonRequestOptions<SecretKey extends boolean = boolean> {
  /** Also sends the secret key (protocol §5.1). Only for a client that has one. @default false */
  readonly secretKey?: SecretKey | undefined;
  /** Ends the call with an `AbortedError`, whose `sent` says whether the request may have arrived. */
  readonly signal?: AbortSignal | undefined;
  /** The deadline of this call in milliseconds. @default `timeoutMs` of the client */
  readonly timeoutMs?: number | undefined;
  /**
   * Additional headers, such as one with an idempotency key. Headers that the client sets cannot be replaced. Their values, and
   * every part of eight characters or more, are hidden in errors.
   */
  readonly headers?: Readonly<Record<string, string>> | Headers | undefined;
  /**
   * If the endpoint is idempotent, or `headers` make the call so, set `'safe'`: the client then retries it like a GET.
   *
   * @default only GET and HEAD are repeated
   */
  readonly repeat?: 'safe' | undefined;
  /**
   * The statuses after which, according to the endpoint's contract, nothing was started: their errors have `sent: 'refused'`.
   *
   * @default 400, 401, 403, 404, 405, 411, 413, 414, 415, 422 and 431
   */
  readonly refusedStatuses?: readonly number[] | undefined;
}

/** Options of `request()` without a contract. */
export interface RequestOptions<SecretKey extends boolean = boolean> extends CommonRequestOptions<SecretKey> {
  readonly method: Method;
  /** Below `baseUrl`, with a leading slash. `{name}` is replaced by a value of `params`. No query, `@`, `%`, `//` or `..`. */
  readonly path: string;
  /** The values of `{name}` in `path`. */
  readonly params?: Readonly<Record<string, Parameter>> | undefined;
  /** Undefined values are left out; a list repeats its name. */
  readonly query?:
    | Readonly<Record<string, Parameter | readonly Parameter[] | undefined>>
    | URLSearchParams
    | undefined;
  /**
   * An object or a list, sent as JSON. A value that JSON would lose, such as a Map, bytes or NaN, is refused with its path; class
   * instances need `toJSON()`.
   */
  readonly body?: object | undefined;
}

/** The envelope of a success (protocol §2.1), for any 2xx status. */
export interface RequestResult<Data = unknown> {
  /** The HTTP status. */
  readonly status: number;
  /** Empty if the response has none. */
  readonly message: string;
  /** `data` of the envelope; undefined for a HEAD, 204 or 205. */
  readonly data: Data;
}

/** `request()` of a client without endpoint types: `data` is `unknown`, unless a `schema` checks it. */
export interface UntypedRequest<SecretKey extends boolean> {
  <Data>(
    options: RequestOptions<SecretKey> & { readonly schema: Schema<Data> },
  ): Promise<RequestResult<Data>>;
  (options: RequestOptions<SecretKey> & { readonly schema?: undefined }): Promise<RequestResult>;
}

/**
 * `request()` of a client with the `paths` that openapi-typescript generated: method, path, parameters, body and `data` have the
 * types of that contract. Nothing is checked at run time, unless a `schema` does so.
 */
export type TypedRequest<Paths, SecretKey extends boolean> = <
  P extends keyof Paths & string,
  M extends MethodOf<Paths[P]>,
  Data = DataOf<Paths[P], M>,
>(
  options: {
    readonly method: M;
    readonly path: P;
    readonly schema?: Schema<Data> | undefined;
  } & InputOf<OperationOf<Paths[P], M>> &
    CommonRequestOptions<SecretKey>,
) => Promise<RequestResult<Data>>;

/** `never` means a client without endpoint types. */
export type SendRequest<Paths, SecretKey extends boolean> = [Paths] extends [never]
  ? UntypedRequest<SecretKey>
  : TypedRequest<Paths, SecretKey>;

/** openapi-typescript gives every path all methods, in lower case; those that it does not have are optional and `never`. */
type MethodOf<Item> = {
  [M in Method]: Item extends Readonly<Record<Lowercase<M>, object>> ? M : never;
}[Method];
type OperationOf<Item, M extends Method> =
  Item extends Readonly<Record<Lowercase<M>, infer Operation>> ? Operation : never;

/** Members stay optional or required, as in the contract. */
type InputOf<Operation> = Operation extends { readonly parameters: infer Parameters }
  ? { readonly [Key in keyof Pick<Parameters, 'path' & keyof Parameters> as 'params']: Parameters[Key] } & {
      readonly [Key in keyof Pick<Parameters, 'query' & keyof Parameters>]: Parameters[Key];
    } & {
      readonly [Key in keyof Pick<Operation, 'requestBody' & keyof Operation> as 'body']: Json<
        Operation[Key]
      >;
    }
  : never;
type Json<Content> = Content extends { readonly content: { readonly 'application/json': infer Body } }
  ? Body
  : never;

/** `data` in the envelope of every success. */
type DataOf<Item, M extends Method> =
  OperationOf<Item, M> extends { readonly responses: infer Responses }
    ? {
        [Status in keyof Responses]: `${Status & (number | string)}` extends `2${string}`
          ? Data<Responses[Status]>
          : never;
      }[keyof Responses]
    : unknown;
type Data<Response> = Json<Response> extends { readonly data: infer Inner } ? Inner : undefined;
