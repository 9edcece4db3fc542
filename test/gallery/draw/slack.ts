import { renderMarkedLines } from '@parley/simulators/draw';
import { parseSlack } from '@parley/simulators/formatting';
import type { GalleryScreen } from './bubble.ts';

/**
 * Slack on a phone. Text that Slack might show differently, or notify people about, counts as
 * refused.
 */
export const SLACK: GalleryScreen = {
  id: 'slack',
  name: 'Slack',
  target: { dialect: 'slack', maxLength: 4_000, unit: 'utf16' },
  draw: ({ text }) => {
    const { lines, violations } = parseSlack(text);
    const [first] = violations;
    if (first !== undefined) throw new Error(`${first.kind}: ${first.text}`);
    return { html: renderMarkedLines(lines), length: text.length };
  },
};
