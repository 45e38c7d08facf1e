import { web } from '../../out/web.js';

// Created on the first request, since a build loads this file and has no secrets.
let handle;
const answer = (request) => {
  handle ??= web(process.env);
  return handle(request);
};

export { answer as GET, answer as POST };
