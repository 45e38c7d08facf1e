import { testAdapter } from '@payment-service/conformance';
import { application } from './fetch-server.ts';

testAdapter('fetch', application);
