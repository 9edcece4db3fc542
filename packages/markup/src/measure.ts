import type { RenderTarget } from '@parley/contracts';

/** Length of a text as the platform counts it. */
export function measure(text: string, unit: RenderTarget['unit']): number {
  switch (unit) {
    case 'utf16':
      return text.length;
    case 'byte':
      return Buffer.byteLength(text);
    case 'codepoint': {
      let count = 0;
      for (const _ of text) count += 1;
      return count;
    }
  }
}
