import type { StreamingFacet } from '@parley/channels';
import type { RenderTarget } from '@parley/contracts';
import { joinParts } from '@parley/markup';
import type { EventHub } from './event-hub.ts';

/** Pages redraw this often at most while an answer grows, in ms. */
const STREAM_EVERY_MS = 50;
/** A front has no limit, but what is longer than this is drawn once and then left alone. */
const PART_LENGTH = 8_000;

/** Shows growing answers to whoever watches. Nothing is drawn, or kept, for nobody. */
export function createStreaming(hub: EventHub, { dialect }: RenderTarget): StreamingFacet {
  return {
    minIntervalMs: STREAM_EVERY_MS,
    maxLength: PART_LENGTH,
    async update({ chatId }, turnId, answer) {
      if (!hub.isWatched(chatId)) return;
      const { settled, open } = answer.show();
      const text = joinParts([...settled, ...open], dialect);
      hub.publish(chatId, { type: 'stream', turnId, text });
    },
    end: async ({ chatId }, turnId) => hub.publish(chatId, { type: 'stream-end', turnId }),
  };
}
