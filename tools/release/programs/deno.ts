import { createSandbox } from '@payment-service/sandbox';
import { web } from './web.js';

// The sandbox starts and ends here, without the permission to read the environment.
const own = createSandbox();
await own.listen();
await own.close();

const settings = Object.fromEntries(Deno.args.map((argument) => argument.split('=', 2)));
const server = Deno.serve({ port: Number(settings['PORT']), hostname: '127.0.0.1' }, web(settings));
Deno.addSignalListener('SIGTERM', () => void server.shutdown());
