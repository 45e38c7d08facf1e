/** `pnpm messages`: writes packages/messages.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../repository.ts';
import { messagesDocument, speakingSources } from './messages-document.ts';

writeFileSync(join(root, 'packages', 'messages.md'), messagesDocument(speakingSources()));
