import { test } from 'vitest';
import { serveOnce } from './serve-once.js';

test('callbacks arrive in a program that Vitest has loaded', serveOnce, 60_000);
