import type { Browser } from 'playwright-core';

const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/**
 * Starts a headless browser with an empty profile of its own that calls nobody by itself.
 * Close it when the test file ends. `executablePath` is `inject('chromiumPath')`.
 */
export async function launchChromium(executablePath: string): Promise<Browser> {
  // Loaded here, so that only the test files that use a browser pay for it.
  const { chromium } = await import('playwright-core');
  return await chromium.launch({
    executablePath,
    headless: true,
    args: QUIET,
    // Chromium's sandbox refuses to work for root.
    chromiumSandbox: process.getuid?.() !== 0,
  });
}
