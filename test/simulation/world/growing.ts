import type { ChannelContext, StreamingCapability } from '@parley/channels';
import type { AdapterLife, PlatformAttempts } from './attempts.ts';
import type { SendHandler } from './sending.ts';

/** How often an unfinished answer is shown, in ms. */
const EVERY_MS = 300;
/** The time in ms that a request waits in a library with its own rate limits. */
const UNTIL_SENT_MS = [5, 600] as const;

/**
 * Shows unfinished answers, as an adapter does: it checks whether it still has the account just
 * before each request. The preview disappears with the finished answer, so people never see it
 * separately.
 */
export function showGrowing(
  sending: SendHandler,
  attempts: PlatformAttempts,
  { holdsAccount }: Pick<ChannelContext<unknown>, 'holdsAccount'>,
  life: AdapterLife,
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
