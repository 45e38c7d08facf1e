import { asObject, readJson } from '../state/json.ts';
import { CommandError } from './command-error.ts';
import { type FoundKeys, readKeys } from './keys.ts';

/** A sandbox, and the keys to its API. */
export interface Session {
  readonly url: string;
  /** Calls `/sandbox/…` and returns its data. Throws a CommandError with the sandbox's own words. */
  call(method: 'GET' | 'POST', path: string, body?: object): Promise<Record<string, unknown>>;
}

export interface SessionOptions {
  readonly sandbox?: string;
  readonly keysFile?: string;
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const DEFAULT_URL = 'http://127.0.0.1:4010';

/** A session with a sandbox that runs already. */
export function openSession({ sandbox, keysFile }: SessionOptions): Session {
  const { variables, source } = readKeys(keysFile);
  const url = (sandbox ?? variables.BASE_URL ?? DEFAULT_URL).replace(/\/+$/, '');
  for (const name of ['PUBLIC_KEY', 'SECRET_KEY'] as const) {
    // The keys of a real account must not reach a program that only happens to listen there.
    if (variables[name]?.startsWith('SANDBOX')) continue;
    throw new CommandError(
      `${name} of ${source} is not a sandbox key, so it was not sent. Name the file of the sandbox's keys with --keys-file.`,
      2,
    );
  }
  return sessionWith({ variables, source }, url, fetch);
}

/** A session whose requests go through `fetch`. */
export function sessionWith({ variables, source }: FoundKeys, url: string, fetch: Fetch): Session {
  const { PUBLIC_KEY = '', SECRET_KEY = '' } = variables;
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'public-key': PUBLIC_KEY,
    'secret-key': SECRET_KEY,
  };
  return {
    url,
    call: async (method, path, body) => {
      const content = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(`${url}${path}`, { method, headers, redirect: 'manual', ...content }).catch(
        (cause: unknown) => {
          const message = `No sandbox answers at ${url}. Start one with 'payment-service-sandbox', or name it with --sandbox.`;
          throw new CommandError(message, 1, { cause });
        },
      );
      const { message, data } = envelopeOf(await answer.text(), url);
      if (answer.status === 401) {
        throw new CommandError(`The sandbox at ${url} refuses the keys of ${source}: ${message}`);
      }
      if (!answer.ok) throw new CommandError(`The sandbox refused this: ${message}`);
      return data;
    },
  };
}

function envelopeOf(text: string, url: string): { message: string; data: Record<string, unknown> } {
  const { message, data } = asObject(readJson(text)) ?? {};
  const found = asObject(data);
  if (found === undefined) throw new CommandError(`The server at ${url} is not a sandbox.`);
  return { message: String(message), data: found };
}
