/** A merchant's program for the command's tests: its arguments determine what it does. */
import { createServer } from 'node:http';

const [port = '0', status = '200', ending = ''] = process.argv.slice(2);
if (ending === 'crash') {
  console.error('Cannot find module of the test');
  process.exit(7);
}
const { BASE_URL, PUBLIC_KEY, SECRET_KEY, SIGNING_KEY } = process.env;
console.log(
  `env ${[BASE_URL, PUBLIC_KEY, SECRET_KEY, SIGNING_KEY].map((value) => value?.slice(0, 13)).join(' ')}`,
);
createServer((request, response) => {
  request.resume().on('end', () => {
    console.log(`received ${request.method} ${request.url}`);
    response.writeHead(Number(status), { 'content-type': 'application/json' }).end('{"status":"accepted"}');
    if (/^\d+$/.test(ending)) setTimeout(() => process.exit(Number(ending)), 50);
  });
}).listen(Number(port), '127.0.0.1');
process.on('SIGTERM', () => {
  console.log('ends gracefully');
  process.exit(5);
});

if (ending === 'counts') {
  let interrupts = 0;
  process.on('SIGINT', () => {
    interrupts += 1;
    if (interrupts > 1) return;
    // A second one would arrive within this time.
    setTimeout(() => {
      console.log(`interrupted ${interrupts} times`);
      process.exit(6);
    }, 300);
  });
}
