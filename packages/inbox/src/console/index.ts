export { type Words, wordsOf } from '../words.ts';
export type { ConsoleAccess, ConsolePermission } from './access.ts';
export { type ConsoleOptions, type InboxConsole, inboxConsole } from './console.ts';
export { type NodeListener, nodeListener } from './node-listener.ts';
