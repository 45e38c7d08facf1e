import { web } from './web.js';

declare const Bun: {
  serve(options: { port: number; hostname: string; fetch: (request: Request) => Promise<Response> }): {
    stop(): Promise<void>;
  };
};

const server = Bun.serve({
  port: Number(process.env['PORT']),
  hostname: '127.0.0.1',
  fetch: web(process.env),
});
process.once('SIGTERM', () => server.stop());
