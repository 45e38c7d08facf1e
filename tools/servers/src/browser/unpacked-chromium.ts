import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

export interface UnpackedChromium {
  readonly program: string;
  /** Variables with the paths of its libraries and fonts. */
  readonly environment: Readonly<Record<string, string>>;
}

const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache');

/**
 * Unpacks the Chromium of `@sparticuz/chromium`, which runs only on Linux x64. The first time takes a few seconds; later runs
 * reuse the folder.
 *
 * The package itself unpacks to a fixed name in the temporary folder, where another user could plant a program, and where a
 * second test process would start a file that the first is still writing. So each process unpacks into a separate folder under
 * node_modules, and the first to finish renames it to the shared name.
 *
 * @param cache The folder that keeps it.
 * @param unpack Fills an empty folder.
 */
export async function unpackedChromium(
  cache: string = CACHE,
  unpack: (folder: string) => Promise<void> = unpackInto,
): Promise<UnpackedChromium> {
  const { version }: { version: string } = JSON.parse(
    await readFile(manifestOf('@sparticuz/chromium'), 'utf8'),
  );
  // "mono": with a monospaced font in addition to the package's fonts.
  const folder = join(cache, `chromium-${version}-mono`);
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const own = await mkdtemp(join(cache, 'unpacking-'));
    try {
      await unpack(own);
      await rename(own, folder).catch((error: unknown) => {
        // Another process was faster.
        if (!existsSync(folder)) throw error;
      });
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  }
  return {
    program: join(folder, 'chromium'),
    environment: {
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  };
}

/** In a separate process, because the package reads the folder and the choice of libraries from the environment. */
async function unpackInto(folder: string): Promise<void> {
  const env = { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' };
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'unpack.ts')], { env });
  const fonts = join(dirname(manifestOf('dejavu-fonts-ttf')), 'ttf');
  for (const name of ['DejaVuSansMono.ttf', 'DejaVuSansMono-Bold.ttf']) {
    await copyFile(join(fonts, name), join(folder, 'fonts', name));
  }
  // The package's font configuration names folders that exist only on its servers.
  await writeFile(
    join(folder, 'fonts.conf'),
    `<fontconfig><dir prefix="relative">fonts</dir>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias></fontconfig>\n`,
  );
}

function manifestOf(name: string): string {
  const manifest = findPackageJSON(name, import.meta.url);
  if (manifest === undefined) throw new Error(`${name} is not installed. Run \`pnpm install\`.`);
  return manifest;
}
