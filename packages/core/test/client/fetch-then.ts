/** Lets something happen once the headers of the answer have arrived. */
export function fetchThen(happen: () => void): (request: Request) => Promise<Response> {
  return async (request) => {
    const response = await fetch(request);
    setImmediate(happen);
    return response;
  };
}
