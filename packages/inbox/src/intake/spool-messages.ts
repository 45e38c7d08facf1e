import { REFUSED } from './spool-folder.ts';

/** What the spool tells `onError`. @param failure Why the store did not accept a callback. */
export function spooledMessage(path: string, failure: string): string {
  return (
    `The database did not accept a callback (${failure}), so callbacks are kept in the folder ${path} and ` +
    'acknowledged. They are stored automatically once the database accepts them. Restore it, and do not delete files there.'
  );
}

export function emptyMessage(refused: number, gone: number): string {
  if (gone > 0)
    return `The spool is empty, and ${gone} acknowledged callbacks that were in it cannot be found. See spool_lost in onError.`;
  const except = refused === 0 ? '' : `, except ${refused} that were refused`;
  return `All callbacks from the spool are now stored in the database${except}.`;
}

export function waitsMessage(path: string): string {
  return (
    `Callbacks wait in the folder ${path}, and this process cannot verify them: it has no route that gave its signing keys. ` +
    'Give paymentCallbacks() the options of inbox.route as they are (...inbox.route), not functions that call them. They are ' +
    'stored then, or after the first callback of this process. A process without a route leaves them to one that has it.'
  );
}

export function refusedMessage(path: string, count: number): string {
  return (
    `${count === 1 ? 'A file' : `${count} files`} of the spool ${path} cannot be stored: damaged, or not verified by ` +
    `any signing key of this process. The name now ends in ${REFUSED}, and nothing is applied from it. If its key was removed or ` +
    'is past its notAfter, add the key to signingKey again and restart: the file is stored then. Otherwise another program ' +
    'wrote or changed it: find out which, and ask the service for the transactions of that time.'
  );
}
