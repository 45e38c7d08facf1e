/** A fresh project: what is installed how, what runs, and what must come of it. */
export interface Row {
  /** The name for the command line. */
  readonly name: string;
  /** What a reader of the table should know: the framework, the compiler, the runtime. */
  readonly about: string;
  /** @default 'npm' */
  readonly installer?: 'npm' | 'pnpm' | 'yarn pnp';
  /** The major version of a Node of `internal/toolchains`. @default 24 */
  readonly node?: 20 | 22 | 24 | 26;
  /** @default 'module' */
  readonly type?: 'module' | 'commonjs';
  /** Dependencies besides core, with their ranges. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Files of `programs/`; `merchant.ts` is always there. The first is the program. */
  readonly files: readonly string[];
  /** With options, the types are checked. Without, the files are only translated, with the compiler of the repository. */
  readonly compiler?: Readonly<Record<string, unknown>>;
  /** Commands between the compilation and the start: `bin arguments…`, a program of the project's dependencies. */
  readonly prepare?: readonly (readonly string[])[];
  /** What starts the program. @default node on the compiled first file */
  readonly start?: readonly string[];
  /** The document whose install command and program are taken, as a reader would; `dependencies` override versions. */
  readonly readme?: string;
  /** Whether the program ends after its report, as a test does, and not on SIGTERM. */
  readonly endsAlone?: boolean;
  /** How the program ends on SIGTERM. @default 0 */
  readonly exitCode?: number;
  /** Of a control: what its failure must say. */
  readonly fails?: RegExp;
}
