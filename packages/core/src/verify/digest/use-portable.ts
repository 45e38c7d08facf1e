import { digestName, equalHex, prepareKey, sha256Hex } from './digest.portable.ts';
import { useDigest } from './digest.published.ts';

// The first import of each entry for runtimes without node:crypto (tsdown.config.ts).
useDigest({ digestName, equalHex, prepareKey, sha256Hex });
