import type { Browser } from 'playwright-core';

/**
 * A browser of one test or file: its windows see nothing of others' and are gone when it is closed. All
 * of them live in one headless Chromium of the whole run. `url` is `inject('chromiumUrl')`.
 */
export async function openChromium(url: string): Promise<Browser> {
  // Loaded here, so that only the test files that use a browser pay for it.
  const { chromium } = await import('playwright-core');
  return chromium.connect(url);
}
