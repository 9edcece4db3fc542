import { findProgram } from './find-program.ts';
import type { ServiceStart } from './provided.ts';

const MACOS_FOLDERS = [
  '/Applications/Chromium.app/Contents/MacOS',
  '/Applications/Google Chrome.app/Contents/MacOS',
];
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/**
 * Starts a headless Chromium or Chrome that calls nobody by itself; `PARLEY_TEST_CHROMIUM` names one.
 * A test that needs a browser opens its own in it with `openChromium`.
 */
export async function startChromium(): Promise<ServiceStart> {
  const found = findProgram({
    names: [
      // Draws no window, not even an invisible one: tests of the page take little more than half the time.
      'chromium-headless-shell',
      'chromium',
      'chromium-browser',
      'google-chrome',
      'Chromium',
      'Google Chrome',
    ],
    folders: ['/usr/bin', '/snap/bin', ...MACOS_FOLDERS],
    variable: 'PARLEY_TEST_CHROMIUM',
  });
  if ('reason' in found) return { state: 'missing', reason: found.reason };
  const { chromium } = await import('playwright-core');
  const server = await chromium.launchServer({
    executablePath: found.path,
    host: '127.0.0.1',
    headless: true,
    args: QUIET,
    // Chromium's sandbox refuses to work for root.
    chromiumSandbox: process.getuid?.() !== 0,
  });
  return { state: 'ready', value: server.wsEndpoint(), stop: () => server.close() };
}
