import { createServer } from 'node:http';
import { serveForHeapTest } from '@payment-service/adapter-conformance/heap-server';
import express from 'express';
import { paymentCallbacks } from '../src/index.ts';

await serveForHeapTest(({ path, options }) => createServer(express().use(path, paymentCallbacks(options))));
