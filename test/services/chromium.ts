import { findProgram } from './find-program.ts';
import { PROGRAMS } from './programs.ts';
import type { ServiceStart } from './provided.ts';

const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/**
 * Starts a headless Chromium or Chrome that makes no network requests by itself;
 * `PARLEY_TEST_CHROMIUM` names one. Tests that need a browser open a separate browser in it with
 * `openChromium`.
 */
export async function startChromium(): Promise<ServiceStart> {
  const found = findProgram(PROGRAMS.chromium);
  if ('reason' in found) return { state: 'missing', ...found };
  const { chromium } = await import('playwright-core');
  try {
    const server = await chromium.launchServer({
      executablePath: found.path,
      host: '127.0.0.1',
      headless: true,
      args: QUIET,
      // Chromium's sandbox does not work for root.
      chromiumSandbox: process.getuid?.() !== 0,
    });
    return { state: 'ready', value: server.wsEndpoint(), stop: () => server.close() };
  } catch (error) {
    const [said = ''] = String(error).split('\n');
    return { state: 'missing', reason: `${found.path} did not start: ${said}` };
  }
}
