import { renderMarkedLines } from '@parley/simulators/draw';
import { parseWhatsApp } from '@parley/simulators/whatsapp';
import type { GalleryScreen } from './bubble.ts';

/** WhatsApp on a phone. Text that WhatsApp clients would show differently counts as refused. */
export const WHATSAPP: GalleryScreen = {
  id: 'whatsapp',
  name: 'WhatsApp',
  target: { dialect: 'whatsapp', maxLength: 4096, unit: 'utf16' },
  draw: ({ text, plain }) => {
    const { lines, violations } = parseWhatsApp(text, plain);
    const [first] = violations;
    if (first !== undefined) throw new Error(`${first.kind}: ${first.text}`);
    return { html: renderMarkedLines(lines), length: text.length };
  },
};
