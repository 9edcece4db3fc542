import { estimateTokens } from './estimate-tokens.ts';
import type { LayerId } from './layer.ts';

/** Estimates the tokens of layers; remembers the last text of each, since most do not change. */
export interface TokenMeter {
  of(layer: LayerId, text: string): number;
}

/** A meter for one assembler. Holds at most one text for each layer. */
export function createTokenMeter(): TokenMeter {
  const last = new Map<LayerId, { readonly text: string; readonly tokens: number }>();
  return {
    of(layer, text) {
      const known = last.get(layer);
      if (known?.text === text) return known.tokens;
      const tokens = estimateTokens(text);
      last.set(layer, { text, tokens });
      return tokens;
    },
  };
}
