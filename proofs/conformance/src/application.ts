import type { Server } from 'node:http';
import type { VerifiedCallback, VerifiedRedirect } from '@payment-service/core';
import type { CallbackOptions, RedirectOptions } from '@payment-service/core/receive';

/**
 * The parser that reads the body before the adapter, in the framework's own way and with a limit of `READER_LIMIT_BYTES`: its
 * usual JSON parser, one that keeps the text, one that keeps the bytes, middleware that reads to the end and keeps nothing, or
 * middleware that puts a decompressed stream in the place of the body and keeps the header content-encoding.
 */
export type Reader = 'json' | 'text' | 'bytes' | 'nothing kept' | 'stream';

/** Far above the limit of a callback, since an app may accept uploads (threat A34). */
export const READER_LIMIT_BYTES: number = 10 * 1024 * 1024;

/** What an application must mount for one scenario. */
export interface CallbackRoute {
  readonly path: string;
  readonly options: CallbackOptions;
  /** Mounted before the adapter. */
  readonly before: Reader | undefined;
  /** The framework's JSON parser, mounted after the adapter: between it and the handler in pass-through mode. */
  readonly after: 'json' | undefined;
  /** Pass-through mode: the app's own handler calls this with what it received, and responds with 202 and the string. */
  readonly handle: ((callback: VerifiedCallback | undefined) => Promise<string>) | undefined;
}

export interface RedirectRoute {
  readonly path: string;
  readonly options: RedirectOptions;
  readonly handle: ((redirect: VerifiedRedirect | undefined) => Promise<string>) | undefined;
}

/**
 * How one framework mounts an adapter: everything that an adapter's test must define. The server is not listening yet. With
 * `handle`, the app's own handler follows the adapter and accepts every method, so that core answers the 405.
 */
export interface Application {
  callbacks(route: CallbackRoute): Server | Promise<Server>;
  redirects(route: RedirectRoute): Server | Promise<Server>;
  /** The framework's own way to shut down on SIGTERM. @default `server.close()` */
  close?(server: Server): Promise<unknown>;
}

/** With a handler the adapter responds; without one, it passes the request through to the app's own handler. */
export type Mode = 'handler' | 'pass-through';
