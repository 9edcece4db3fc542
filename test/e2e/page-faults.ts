import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { POOR_CONTRAST } from './poor-contrast.ts';

const VIOLATIONS = `axe.run().then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html.slice(0, 120))))`;
const WIDE = `[document.documentElement, ...document.querySelectorAll('main, .entry, .entries, .top')]
  .filter((box) => box.scrollWidth > box.clientWidth).map((box) => 'too wide: ' + box.className)`;

/** Violations found by axe, text with insufficient contrast, and elements wider than the window. */
export async function findPageFaults(page: Page): Promise<unknown[]> {
  // The axe script is half a megabyte long, so it is injected once per loaded page.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const faults = [VIOLATIONS, WIDE, POOR_CONTRAST].map((look) => page.evaluate(look));
  return (await Promise.all(faults)).flat();
}
