/** What the builds of several packages share. */

/**
 * The end of each CommonJS entry names the module beside it, in a function that nothing calls. For `require`, a file tracer
 * that does not know the condition `module-sync` (@vercel/nft before 0.30, and every version on Node 20) copies only index.cjs,
 * and Node then looks for index.js. Tracers copy what is joined with `__dirname`; bundlers drop the function.
 */
export function moduleForTracers({ fileName }: { readonly fileName: string }): string {
  const name = /^([\w.]+)\.cjs$/.exec(fileName)?.[1]; // Shared files have a hash in their names, after a hyphen.
  return name === undefined ? '' : `function moduleForTracers() {\n\treturn __dirname + '/${name}.js';\n}`;
}
