import type { Reader } from '@parley/contracts';
import type { TurnHook } from '../turn-hooks.ts';
import { ownSentences } from './own-sentences.ts';
import { triggerIn } from './trigger-words.ts';

/** Most sentences that are pointed out. */
const MOST = 5;

/**
 * Tells the model that what somebody writes now asks to be remembered (G13). `offers`: whether it has
 * the tool for it.
 */
export function memoryHook(offers: (reader: Reader) => boolean): TurnHook {
  return {
    id: 'memory',
    async before({ reader, messages = [] }) {
      if (!offers(reader)) return {};
      const asked = ownSentences(messages).filter(({ text }) => triggerIn(text) !== null);
      if (asked.length === 0) return {};
      const quotes = asked.slice(0, MOST).map(({ text }) => `- ${JSON.stringify(text)}`);
      const text = [
        'The message below asks to be remembered. Call `save_memory` in this turn, with these words as `quote`:',
        ...quotes,
      ].join('\n');
      const { conversationId } = reader;
      const audience = { kind: 'conversation', conversationId } as const;
      return { userContext: [{ text, source: 'memory', audience }] };
    },
  };
}
