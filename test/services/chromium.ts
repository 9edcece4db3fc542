import { findProgram } from './find-program.ts';
import type { ServiceStart } from './provided.ts';

const MACOS_FOLDERS = [
  '/Applications/Chromium.app/Contents/MacOS',
  '/Applications/Google Chrome.app/Contents/MacOS',
];

/**
 * Finds a Chromium or Chrome; `PARLEY_TEST_CHROMIUM` names one. Nothing is started here: a test
 * that needs a browser starts its own with `launchChromium`.
 */
export async function findChromium(): Promise<ServiceStart> {
  const found = findProgram({
    names: ['chromium', 'chromium-browser', 'google-chrome', 'Chromium', 'Google Chrome'],
    folders: ['/usr/bin', '/snap/bin', ...MACOS_FOLDERS],
    variable: 'PARLEY_TEST_CHROMIUM',
  });
  if ('reason' in found) return { state: 'missing', reason: found.reason };
  return { state: 'ready', value: found.path, stop: async () => undefined };
}
