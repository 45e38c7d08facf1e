import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import * as adapter from '@payment-service/fastify';
import { merchant } from './merchant.js';

class Shop {}
Module({})(Shop);

async function main(): Promise<void> {
  const { options, report } = merchant(adapter, process.env);
  const fastify = new FastifyAdapter({ return503OnClosing: false });
  const app = await NestFactory.create<NestFastifyApplication>(Shop, fastify, { logger: ['error'] });
  await app.register(adapter.paymentCallbacks(options), { prefix: '/callbacks' });
  fastify.getInstance().get('/report', () => report());
  process.once('SIGTERM', () => app.close());
  await app.listen(Number(process.env['PORT']), '127.0.0.1');
}

void main();
