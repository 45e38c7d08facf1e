import { createAdaptorServer } from '@hono/node-server';
import type { Application, Reader } from '@payment-service/adapter-conformance';
import { testAdapter } from '@payment-service/adapter-conformance';
import { Hono } from 'hono';
import { cloneRawRequest } from 'hono/request';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

