import { renderMarkedLines } from '@parley/simulators/draw';
import { parseGoogleChat } from '@parley/simulators/formatting';
import type { GalleryScreen } from './bubble.ts';

/** Google Chat on a phone. Text that might be shown differently counts as refused. */
export const GOOGLE_CHAT: GalleryScreen = {
  id: 'google-chat',
  name: 'Google Chat',
  target: { dialect: 'google-chat', maxLength: 30_000, unit: 'byte' },
  draw: ({ text }) => {
    const { lines, violations } = parseGoogleChat(text);
    const [first] = violations;
    if (first !== undefined) throw new Error(`${first.kind}: ${first.text}`);
    return { html: renderMarkedLines(lines), length: Buffer.byteLength(text) };
  },
};
