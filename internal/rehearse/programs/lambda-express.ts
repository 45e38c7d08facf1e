import * as adapter from '@payment-service/express';
import express from 'express';
import serverless from 'serverless-http';
import { serveLambda } from './lambda-front.js';
import { merchant } from './merchant.js';

const { options, report } = merchant(adapter, process.env);
const app = express();
app.use('/callbacks', adapter.paymentCallbacks(options));
app.get('/report', (_request, response, next) => {
  report().then((body) => response.json(body), next);
});
serveLambda(serverless(app));
