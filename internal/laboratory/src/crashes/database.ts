/** Where the inbox and the merchant's own tables are; handed to every process as JSON. */
export type Database =
  | { readonly store: 'postgres'; readonly url: string }
  | {
      readonly store: 'sqlite';
      readonly path: string;
      /** Of a second file, which a handler can write to while the inbox holds the write lock of the first. */
      readonly outsidePath: string;
    };
