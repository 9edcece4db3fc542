import type { Browser } from 'playwright-core';

/**
 * A browser for one test or file: its windows are isolated from others and disappear when it is
 * closed. All browsers share one headless Chromium per run. `url` is `inject('chromiumUrl')`.
 */
export async function openChromium(url: string): Promise<Browser> {
  // Imported here, so that only the test files that use a browser pay for it.
  const { chromium } = await import('playwright-core');
  return chromium.connect(url);
}
