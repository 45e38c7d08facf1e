import * as node from './digest.node.ts';

type Digest = typeof node;

/**
 * '#digest' as published: the build replaces it with this file (tsdown.config.ts), so that core.js imports nothing in Node. An
 * import would cost more than a millisecond of each start (docs/benchmarks.md). The entries for other runtimes replace these
 * functions before any other file can use them (decision D15).
 */
export let digestName: string = node.digestName;
export let prepareKey: Digest['prepareKey'] = node.prepareKey;
export let sha256Hex: Digest['sha256Hex'] = node.sha256Hex;
export let equalHex: Digest['equalHex'] = node.equalHex;

export function useDigest(digest: Omit<Digest, 'digestName'> & { readonly digestName: string }): void {
  ({ digestName, prepareKey, sha256Hex, equalHex } = digest);
}
