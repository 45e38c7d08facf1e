import serverless from 'serverless-http';
import { expressApp } from './express-app.js';
import { serveLambda } from './lambda-front.js';

serveLambda(serverless(expressApp()));
