export { type Words, wordsOf } from '../words.ts';
export {
  type ConsoleAccess,
  type ConsoleOptions,
  type ConsolePermission,
  type InboxConsole,
  inboxConsole,
} from './console.ts';
export { type NodeListener, nodeListener } from './node-listener.ts';
