/** The configuration of the shop. Only this file reads the environment. */
export interface ShopConfig {
  /** BASE_URL: the address of the payment service. */
  readonly baseUrl: string;
  /** PUBLIC_KEY, SECRET_KEY, SIGNING_KEY: the keys of the merchant account. */
  readonly publicKey: string;
  readonly secretKey: string;
  readonly signingKey: string;
  /** For a demo with its own sandbox: allows sandbox keys, whatever NODE_ENV is. */
  readonly allowSandboxKeys?: boolean;
  /** HOST and PORT: where the shop listens. Default 127.0.0.1 and 3000. */
  readonly host: string;
  readonly port: number;
  /** SHOP_URL: how the payment service and the customers reach the shop. Default: where it listens. */
  readonly shopUrl: string | undefined;
  readonly keeping: Keeping;
  /** CONFIRM_SECONDS: how long an order's page waits for a confirmation before it offers other options. Default 120. */
  readonly confirmWithinMs: number;
  /** CONTACT: the email address that it shows then. Default help@shop.example. */
  readonly contact: string;
}

/** Where orders and inbox are stored: DATABASE_URL names a PostgreSQL database, INBOX_FILE a SQLite file on a local disk. */
export type Keeping = { readonly databaseUrl: string } | { readonly file: string };

/** A problem that the person who starts the shop can fix; its message says how. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}

export type Environment = Readonly<Record<string, string | undefined>>;

const REQUIRED = {
  BASE_URL: 'the address of the payment service, for example http://127.0.0.1:4010',
  PUBLIC_KEY: 'the public key of the merchant account',
  SECRET_KEY: 'the secret key of the merchant account',
  SIGNING_KEY: 'the signing key of the merchant account',
} as const;

/**
 * Reads the whole configuration, or names everything that is missing.
 *
 * @throws {SetupError} that names the variables, but never their values.
 */
export function readConfig(environment: Environment): ShopConfig {
  const missing = Object.entries(REQUIRED).filter(([name]) => (environment[name] ?? '') === '');
  if (missing.length > 0) {
    const lines = missing.map(([name, meaning]) => `  ${name.padEnd(11)} ${meaning}`);
    throw new SetupError(`The shop needs these environment variables:\n${lines.join('\n')}`);
  }
  const { BASE_URL = '', PUBLIC_KEY = '', SECRET_KEY = '', SIGNING_KEY = '' } = environment;
  const shopUrl = environment['SHOP_URL'];
  return {
    baseUrl: readAddress('BASE_URL', BASE_URL),
    publicKey: PUBLIC_KEY,
    secretKey: SECRET_KEY,
    signingKey: SIGNING_KEY,
    host: environment['HOST'] || '127.0.0.1',
    port: readPort(environment, 'PORT', 3000),
    shopUrl: shopUrl ? readAddress('SHOP_URL', shopUrl) : undefined,
    keeping: readKeeping(environment, () => 'shop.sqlite'),
    ...readSupport(environment),
  };
}

/** @throws {SetupError} if CONFIRM_SECONDS is not a number of seconds, or CONTACT is not an email address. */
export function readSupport(environment: Environment): Pick<ShopConfig, 'confirmWithinMs' | 'contact'> {
  const seconds = environment['CONFIRM_SECONDS'] || '120';
  const contact = environment['CONTACT'] || 'help@shop.example';
  const isNumber = /^[1-9]\d{0,5}$/.test(seconds);
  check(isNumber, 'CONFIRM_SECONDS must be a whole number from 1 to 999999, for example 120.');
  const isEmail = /^[\w.+-]+@[\w.-]+$/.test(contact);
  check(isEmail, 'CONTACT must be an email address, for example help@shop.example.');
  return { confirmWithinMs: Number(seconds) * 1000, contact };
}

/**
 * DATABASE_URL takes precedence over INBOX_FILE; without both, the default file is used.
 *
 * @throws {SetupError} that quotes nothing of the address, which may contain a password.
 */
export function readKeeping(environment: Environment, defaultFile: () => string): Keeping {
  const databaseUrl = environment['DATABASE_URL'] || undefined;
  if (databaseUrl === undefined) return { file: environment['INBOX_FILE'] || defaultFile() };
  const isPostgres = /^postgres(?:ql)?:$/.test(URL.parse(databaseUrl)?.protocol ?? '');
  const message =
    'DATABASE_URL must be the address of a PostgreSQL database: postgres://user:password@host:5432/database.';
  check(isPostgres, message);
  return { databaseUrl };
}

/** @throws {SetupError} if the variable is set and is not a port number. */
export function readPort(environment: Environment, name: string, fallback: number): number {
  const text = environment[name] || String(fallback);
  const port = Number(text);
  const isPort = /^\d{1,5}$/.test(text) && port <= 65_535;
  check(isPort, `${name} must be a port number from 0 to 65535, for example ${name}=${fallback}.`);
  return port;
}

/** The demo's sandbox has no authentication, so it listens only on this computer. @throws {SetupError} */
export function readLoopbackHost(environment: Environment): string {
  const host = environment['HOST'] || '127.0.0.1';
  const message =
    'HOST must be this computer: 127.0.0.1, ::1 or localhost. Do not expose the demo to a network.';
  check(isLoopback(host), message);
  return host;
}

/** Whether it is a loopback address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** A host as a URL writes it: IPv6 in brackets. */
export function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function readAddress(name: 'BASE_URL' | 'SHOP_URL', text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  check(isPlain, `${name} must be an http or https address without a query: http://127.0.0.1:4010.`);
  const isRoot = name !== 'SHOP_URL' || url?.pathname === '/';
  check(isRoot, 'SHOP_URL must have no path: the shop is the root of its address.');
  return text.replace(/\/+$/, '');
}

/** @throws {SetupError} */
function check(isRight: boolean, message: string): void {
  if (!isRight) throw new SetupError(message);
}
