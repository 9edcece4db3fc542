import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamingFacet } from '@parley/channels';
import type { Clock, RenderTarget } from '@parley/contracts';
import { renderPrefix } from '@parley/markup';
import type { EventHub } from './event-hub.ts';

/** Pages redraw this often at most while an answer grows, in ms. */
const STREAM_EVERY_MS = 50;
/** Of the time, at most one part in this many goes into drawing; the rest is for other chats. */
const DRAWING_SHARE = 8;
/** However long an answer is, it moves at least this often, in ms. */
const LONGEST_PAUSE_MS = 5_000;

/**
 * Shows growing answers to whoever watches. The whole answer is drawn anew each time, which for a long
 * one takes longer: then it is drawn less often. The caller waits for one update before the next.
 */
export function createStreaming(hub: EventHub, target: RenderTarget, clock: Clock): StreamingFacet {
  return {
    minIntervalMs: STREAM_EVERY_MS,
    async update({ chatId }, turnId, markdown) {
      if (!hub.isWatched(chatId)) return;
      const startedAt = clock();
      hub.publish(chatId, { type: 'stream', turnId, text: renderPrefix(markdown, target) });
      const pause = (clock() - startedAt) * (DRAWING_SHARE - 1);
      if (pause > 0) await sleep(Math.min(pause, LONGEST_PAUSE_MS), undefined, { ref: false });
    },
    end: async ({ chatId }, turnId) => hub.publish(chatId, { type: 'stream-end', turnId }),
  };
}
