import { serveOnce } from './serve-once.js';

test('callbacks arrive in a program that Jest has loaded', serveOnce, 60_000);
