import type { Inbox } from '@payment-service/inbox';
import { inboxConsole, type NodeListener, nodeListener } from '@payment-service/inbox/console';
import type { Transaction } from '../books/database.ts';
import { errorText, type Log } from '../web/page.ts';
import { isOwnHost, type OwnAddresses } from '../web/same-site.ts';
import { ownerOfSession } from '../web/session.ts';

export const INBOX = '/owner/inbox';

/**
 * The inbox for its owner. It is protected like the owner's other pages: by the addresses under which the shop answers, without
 * a login. Names and account numbers in bodies stay hidden, since the orders show them.
 */
export function ownerConsole(inbox: Inbox<Transaction>, own: OwnAddresses, log: Log): NodeListener {
  const console = inboxConsole(inbox, {
    basePath: INBOX,
    authorize: ({ headers }) =>
      isOwnHost(headers.get('host') ?? undefined, own) && {
        by: ownerOfSession(),
        may: ['read', 'retry', 'resolve', 'reopen', 'expect'],
      },
    onError: (error) => log(errorText(error)),
  });
  return nodeListener(console);
}
