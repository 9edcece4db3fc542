import { renderTelegram } from '@parley/simulators/draw';
import { parseTelegramHtml } from '@parley/simulators/telegram';
import type { GalleryScreen } from './bubble.ts';

/** Telegram on a phone, from the entities that its servers would find. */
export const TELEGRAM: GalleryScreen = {
  id: 'telegram',
  name: 'Telegram',
  target: { dialect: 'telegram', maxLength: 4096, unit: 'utf16' },
  draw: (part) => {
    const { text, entities } = parseTelegramHtml(part.text);
    return { html: renderTelegram(text, entities), length: text.length };
  },
};
