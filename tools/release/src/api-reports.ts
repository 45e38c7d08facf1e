/** `pnpm api`: writes the reports that a reviewer accepts, and removes those of entries that no longer exist. */
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type ExtractorMessage,
} from '@microsoft/api-extractor';
import { publishedPackages, root as repository } from '@payment-service/release/toolchains';

/** One entry of a published package. */
interface Entry {
  /** As a user imports it, such as `@payment-service/core/receive`. */
  readonly specifier: string;
  /** The emitted declarations. */
  readonly declarations: string;
  readonly packageFolder: string;
  /** The path of its report. */
  readonly path: string;
}

export interface ApiReport {
  /** From the root, with slashes, such as `packages/core/api/receive.api.md`. */
  readonly path: string;
  readonly text: string;
}

/**
 * Reports the public API of every published package of a repository: one report per entry, from the declarations that the build
 * emitted. An unexported type is part of the report if an exported one uses it.
 *
 * @throws {Error} if a package is not built, or if API Extractor fails.
 */
export function apiReports(root: string): ApiReport[] {
  const entries = publishedEntries(root);
  using scratch = mkdtempDisposableSync(join(tmpdir(), 'api-report-'));
  const configs = entries.map((entry) => configOf(entry, scratch.path));
  const [first] = configs;
  if (first === undefined) throw new Error(`No published package was found in ${root}.`);
  // One compiler program for all entries; one for each would take several times as long.
  const compilerState = CompilerState.create(first, {
    additionalEntryPoints: entries.map(({ declarations }) => declarations),
  });
  return entries.map((entry, index) => {
    const config = configs[index] ?? first;
    const problems: string[] = [];
    const messageCallback = (message: ExtractorMessage): void => {
      message.handled = true;
      if (message.logLevel === 'error') problems.push(message.formatMessageWithLocation(root));
    };
    Extractor.invoke(config, { compilerState, localBuild: true, messageCallback });
    if (problems.length > 0) throw new Error(`${entry.specifier}: ${problems.join('\n')}`);
    return { path: entry.path, text: readable(entry, readFileSync(config.reportFilePath, 'utf8')) };
  });
}

/**
 * The declarations of an API Extractor report without its notes on documentation, plus the additions to the types of other
 * packages (`declare global`, `declare module`), which API Extractor omits.
 */
function readable({ specifier, declarations }: Entry, report: string): string {
  const [, exported = ''] = /^```ts\n([\s\S]*?)^```/m.exec(report) ?? [];
  const additions =
    readFileSync(declarations, 'utf8').match(/^declare (?:global|module .*) \{\n[\s\S]*?^\}/gm) ?? [];
  const code = [exported, ...additions]
    .join('\n')
    .replaceAll(/^ *\/\/ (?:@public|\(undocumented\)|@public \(undocumented\)|\(No @packageDoc.*)\n/gm, '')
    .replaceAll(/^ *\/\*\*[\s\S]*?\*\/\n/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  return `# ${specifier}\n\nThe public API, from the emitted declarations. Written by \`pnpm api\`.\n\n\`\`\`ts\n${code}\n\`\`\`\n`;
}

function publishedEntries(root: string): Entry[] {
  return publishedPackages(root).flatMap(({ name: packageName, folder, publishConfig }) =>
    Object.entries(publishConfig?.exports ?? {}).flatMap(([name, target]) => {
      const types = typesOf(target);
      if (types === undefined) return [];
      const declarations = join(folder, types);
      const home = `packages/${basename(folder)}`;
      if (!existsSync(declarations)) throw new Error(`${home}/${types} is missing: run \`pnpm build\`.`);
      return {
        specifier: join(packageName, name).replaceAll('\\', '/'),
        declarations,
        packageFolder: folder,
        path: `${home}/api/${basename(types, '.d.ts')}.api.md`,
      };
    }),
  );
}

/** The declarations of an export for `import`, or those for Node if there are several. */
function typesOf(target: unknown): string | undefined {
  if (typeof target !== 'object' || target === null) return undefined;
  if ('types' in target && typeof target.types === 'string') return target.types;
  if ('node' in target) return typesOf(target.node);
  return 'import' in target ? typesOf(target.import) : undefined;
}

function configOf({ packageFolder, declarations, specifier }: Entry, scratch: string): ExtractorConfig {
  const folder = join(scratch, specifier.replaceAll(/[@/]/g, '-'));
  // API Extractor creates only the folder for temporary files.
  mkdirSync(folder);
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: packageFolder,
      mainEntryPointFilePath: declarations,
      newlineKind: 'lf',
      compiler: { tsconfigFilePath: join(repository, 'tsconfig.base.json') },
      apiReport: {
        enabled: true,
        reportFileName: 'report',
        reportFolder: folder,
        reportTempFolder: join(folder, 'temp'),
        includeForgottenExports: true,
      },
      messages: {
        // No notes on documentation and release tags: these reports are about names and types.
        extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(packageFolder, 'package.json'),
  });
}

if (import.meta.main) {
  const reports = apiReports(repository);
  for (const stale of globSync('packages/*/api/*.api.md', { cwd: repository }))
    rmSync(join(repository, stale));
  for (const { path, text } of reports) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), text);
  }
  console.log(`Wrote ${reports.length} reports: review packages/*/api with git diff, then commit.`);
}
