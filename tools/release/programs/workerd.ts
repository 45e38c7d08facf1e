import type { Settings } from './merchant.js';
import { web } from './web.js';

let handle: ((request: Request) => Promise<Response>) | undefined;

export default {
  fetch(request: Request, env: Settings): Promise<Response> {
    handle ??= web(env);
    return handle(request);
  },
};
