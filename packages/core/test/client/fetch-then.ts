import type { FetchInit } from '../../src/client/client.ts';

/** Lets something happen once the headers of the answer have arrived. */
export function fetchThen(happen: () => void): (url: string, init: FetchInit) => Promise<Response> {
  return async (url, init) => {
    const response = await fetch(url, init);
    setImmediate(happen);
    return response;
  };
}
