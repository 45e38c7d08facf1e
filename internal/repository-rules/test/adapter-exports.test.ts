/** One install is enough: an adapter exports everything of core's main entry, and its own two functions. */
import * as core from '@payment-service/core';
import * as express from '@payment-service/express';
import * as fastify from '@payment-service/fastify';
import * as fetch from '@payment-service/fetch';
import * as koa from '@payment-service/koa';
import { expect, test } from 'vitest';
import { adapters } from '../src/manifests.ts';

const exported: Readonly<Record<string, object>> = { express, fastify, fetch, koa };

test.each(adapters)('the adapter for %s exports its two functions and the names of core', (name) => {
  const own = ['paymentCallbacks', 'paymentRedirects'];
  expect(Object.keys(exported[name] ?? {}).sort()).toEqual([...Object.keys(core), ...own].sort());
  expect(Reflect.get(exported[name] ?? {}, 'confirmAmount')).toBe(core.confirmAmount);
});
