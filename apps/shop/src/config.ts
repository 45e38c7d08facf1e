/** The configuration of the shop. Only this file reads the environment. */
export interface ShopConfig {
  /** BASE_URL: the address of the payment service. */
  readonly baseUrl: string;
  /** PUBLIC_KEY, SECRET_KEY, SIGNING_KEY: the keys of the merchant account. */
  readonly publicKey: string;
  readonly secretKey: string;
  readonly signingKey: string;
  /** HOST and PORT: where the shop listens. Default 127.0.0.1 and 3000. */
  readonly host: string;
  readonly port: number;
  /** SHOP_URL: how the payment service and the customers reach the shop. Default: where it listens. */
  readonly shopUrl?: string | undefined;
  /** INBOX_FILE: the SQLite file with orders and inbox, on a local disk. Default shop.sqlite. */
  readonly file: string;
}

/** A problem that the person who starts the shop can fix; its message says how. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}

type Environment = Readonly<Record<string, string | undefined>>;

const REQUIRED = {
  BASE_URL: 'the address of the payment service, for example http://127.0.0.1:4010',
  PUBLIC_KEY: 'the public key of the merchant account',
  SECRET_KEY: 'the secret key of the merchant account',
  SIGNING_KEY: 'the signing key of the merchant account',
};

/**
 * Reads the whole configuration, or names everything that is missing.
 *
 * @throws {SetupError} that names the variables, but never their values.
 */
export function readConfig(environment: Environment): ShopConfig {
  const missing = Object.entries(REQUIRED).filter(([name]) => !environment[name]);
  if (missing.length > 0) {
    const lines = missing.map(([name, meaning]) => `  ${name.padEnd(11)} ${meaning}`);
    throw new SetupError(`The shop needs these environment variables:\n${lines.join('\n')}`);
  }
  const { BASE_URL = '', PUBLIC_KEY = '', SECRET_KEY = '', SIGNING_KEY = '', SHOP_URL } = environment;
  return {
    // createClient() checks it.
    baseUrl: BASE_URL,
    publicKey: PUBLIC_KEY,
    secretKey: SECRET_KEY,
    signingKey: SIGNING_KEY,
    host: environment['HOST'] || '127.0.0.1',
    port: readPort(environment, 'PORT', 3000),
    shopUrl: SHOP_URL ? readShopUrl(SHOP_URL) : undefined,
    file: environment['INBOX_FILE'] || 'shop.sqlite',
  };
}

/** @throws {SetupError} if the variable is set and is not a port number. */
export function readPort(environment: Environment, name: string, fallback: number): number {
  const text = environment[name] || String(fallback);
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new SetupError(`${name} must be a port number from 0 to 65535, for example ${name}=${fallback}.`);
}

/** The shop is the root of its address. */
function readShopUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new SetupError('SHOP_URL must be an http or https address without a path: https://shop.example.');
}
