export type { Application, CallbackRoute, Mode, Reader, RedirectRoute } from './application.ts';
export { testAdapter } from './test-adapter.ts';
