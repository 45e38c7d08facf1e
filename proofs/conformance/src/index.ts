export {
  type Application,
  type CallbackRoute,
  type Mode,
  READER_LIMIT_BYTES,
  type Reader,
  type RedirectRoute,
} from './application.ts';
export { sendCallback, sendRedirect, serve } from './genuine.ts';
export { testHostility } from './hostile/test-hostility.ts';
export { redirectQuery, SIGNING_KEY } from './http-request.ts';
export { type Mistakes, testMistakes } from './mistakes.ts';
export { ANSWERS } from './outcome.ts';
export { testAdapter, testBridges } from './test-adapter.ts';
