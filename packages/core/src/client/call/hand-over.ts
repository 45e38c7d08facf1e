import { isObject } from '../../verify/json-members.ts';

/** What undici, on which Node's fetch is built, has reported about one `fetch` call. */
export interface HandOver {
  /** The number of requests made for it: more than one if a layer in between repeats. 0 if nothing reports. */
  requests: number;
  /** Whether the headers of any of them were written to a connection. */
  isWritten: boolean;
}

interface AsyncContext {
  run<T>(store: HandOver, body: () => T): T;
  getStore(): HandOver | undefined;
}
type Subscriber = (message: unknown) => void;
interface Platform {
  readonly process?: {
    getBuiltinModule?(id: string):
      | {
          readonly AsyncLocalStorage?: new () => AsyncContext;
          subscribe?(name: string, subscriber: Subscriber): void;
        }
      | undefined;
  };
}

/** Created by the first call. Null in runtimes without AsyncLocalStorage or channels. */
let context: AsyncContext | null | undefined;

/**
 * Calls `fetch` and records in `handOver` what undici reports about its requests. Its channels cover Node's own fetch, and also a
 * dispatcher or a wrapper that repeats a request, whose last error says nothing about the first request.
 */
export function watched<T>(handOver: HandOver, fetch: () => Promise<T>): Promise<T> {
  if (context === undefined) context = subscribed() ?? null;
  return context === null ? fetch() : context.run(handOver, fetch);
}

function subscribed(): AsyncContext | undefined {
  const { process } = globalThis as Platform;
  const AsyncLocalStorage = process?.getBuiltinModule?.('async_hooks')?.AsyncLocalStorage;
  const diagnostics = process?.getBuiltinModule?.('diagnostics_channel');
  if (AsyncLocalStorage === undefined || diagnostics?.subscribe === undefined) return undefined;
  const running = new AsyncLocalStorage();
  // A request is created within the call, but written wherever its connection becomes free.
  const handOvers = new WeakMap<object, HandOver>();
  diagnostics.subscribe('undici:request:create', (message) => {
    const handOver = running.getStore();
    const { request } = Object(message);
    // The request that opens a proxy tunnel carries nothing from the caller.
    if (handOver === undefined || !isObject(request) || request['method'] === 'CONNECT') return;
    handOver.requests += 1;
    handOvers.set(request, handOver);
  });
  diagnostics.subscribe('undici:client:sendHeaders', (message) => {
    const handOver = handOvers.get(Object(message).request);
    if (handOver !== undefined) handOver.isWritten = true;
  });
  return running;
}

const CONNECTING: readonly unknown[] = ['connect', 'getaddrinfo'];
/** Certificates and arguments are checked before the request is written. */
const NO_CONNECTION =
  /^(UND_ERR_(CONNECT_TIMEOUT|INVALID_ARG)|ERR_TLS_CERT_ALTNAME_INVALID|(CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_\w+)$/;
const MAX_CAUSES = 5;

/**
 * Whether it is certain that the service has not received the request: `fetch` made one request, wrote nothing of it, and failed
 * because there was no connection. Otherwise it may have arrived (decision D75).
 */
export function isUnsent({ requests, isWritten }: HandOver, thrown: unknown): boolean {
  return requests === 1 && !isWritten && hasNoConnection(thrown);
}

/** The outermost system call or code decides: an older refusal can lie below a reset. */
function hasNoConnection(thrown: unknown, depth = MAX_CAUSES): boolean {
  if (!isObject(thrown) || depth === 0) return false;
  const { syscall, code, errors, cause } = thrown;
  // Each address of a host is tried, and each has its own error.
  if (Array.isArray(errors) && errors.length > 0)
    return errors.every((error) => hasNoConnection(error, depth - 1));
  if (syscall !== undefined) return CONNECTING.includes(syscall);
  if (typeof code === 'string') return NO_CONNECTION.test(code);
  return hasNoConnection(cause, depth - 1);
}
