import { serveHostile } from '@payment-service/conformance/hostile-server';
import { application4, application5 } from './application.ts';

await serveHostile({ 'express 4': [application4], 'express 5': [application5] });
