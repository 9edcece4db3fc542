import { escapeText } from '@parley/simulators/draw';
import type { GalleryScreen } from './bubble.ts';

/** `parley chat` in a terminal of 80 columns. */
export const TERMINAL: GalleryScreen = {
  id: 'terminal',
  name: 'Terminal',
  target: { dialect: 'plain', maxLength: 4_000_000, unit: 'utf16' },
  draw: ({ text }) => ({ html: escapeText(text), length: text.length }),
};
