import type { ChannelContext, StreamingCapability } from '@parley/channels';
import type { Attempts, Life } from './attempts.ts';
import type { Sending } from './sending.ts';

/** How often an unfinished answer is shown, in ms. */
const EVERY_MS = 300;
/** A request waits for its turn, as that of a library with rate limits of its own. In ms. */
const UNTIL_SENT_MS = [5, 600] as const;

/**
 * Shows answers while they are written, as an adapter does it: it asks whether it has the account still, just before
 * each request. What is shown of them goes with the finished answer, so that people never see it apart from that.
 */
export function showGrowing(
  sending: Sending,
  attempts: Attempts,
  { holdsAccount }: Pick<ChannelContext<unknown>, 'holdsAccount'>,
  life: Life,
): StreamingCapability {
  return {
    minIntervalMs: EVERY_MS,
    async update(_address, _turnId, answer) {
      answer.show();
      await sending.wait(...UNTIL_SENT_MS);
      if (!holdsAccount()) return;
      attempts.touch('preview', life, sending.time.now);
      await sending.wait(5, 100);
    },
    async end() {},
  };
}
