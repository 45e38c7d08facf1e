import { serveHostile } from '@payment-service/conformance/hostile-server';
import { applicationOn } from './application.ts';

await serveHostile({ 'fastify 5': [applicationOn({}), applicationOn({ http2: true })] });
