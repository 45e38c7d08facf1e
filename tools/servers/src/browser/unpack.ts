/** Unpacks Chromium into TMPDIR. unpacked-chromium.ts starts this program and explains why. */
import chromium from '@sparticuz/chromium';

await chromium.executablePath();
