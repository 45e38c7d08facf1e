import { expressApp } from './express-app.js';

/** For a test runner: serves until the report has been read. */
export function serveOnce(): Promise<void> {
  return new Promise((resolve) => {
    const app = expressApp();
    const server = app.listen(Number(process.env['PORT']), '127.0.0.1');
    server.on('request', ({ url }, response) => {
      if (url !== '/report') return;
      response.setHeader('connection', 'close').once('finish', () => server.close(() => resolve()));
    });
  });
}
