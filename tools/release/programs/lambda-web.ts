import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { serveLambda } from './lambda-front.js';
import { web } from './web.js';

const receive = web(process.env);
const app = new Hono();
app.all('*', (context) => receive(context.req.raw));
serveLambda(handle(app));
