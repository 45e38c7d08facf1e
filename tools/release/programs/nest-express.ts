import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import * as adapter from '@payment-service/express';
import type { NextFunction, Request, Response } from 'express';
import { merchant } from './merchant.js';

class Shop {}
Module({})(Shop);

async function main(): Promise<void> {
  const { options, report } = merchant(adapter, process.env);
  const app = await NestFactory.create<NestExpressApplication>(Shop, { logger: ['error'] });
  app.use('/callbacks', adapter.paymentCallbacks(options));
  app.use('/report', (_request: Request, response: Response, next: NextFunction) => {
    report().then((body) => response.json(body), next);
  });
  process.once('SIGTERM', () => app.close());
  await app.listen(Number(process.env['PORT']), '127.0.0.1');
}

void main();
