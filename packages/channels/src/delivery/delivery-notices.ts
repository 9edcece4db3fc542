import type { ChannelFailure } from '@parley/contracts';

/** Told in the chat when nobody knows whether a part arrived (D04), in Markdown. `⚙️` marks the system (G08). */
export const UNCERTAIN_NOTICE =
  '⚙️ I was interrupted while sending my last message, and cannot tell whether it arrived. If it is missing, please ask me again.';

/** Whether a chat can still be told that something went wrong in it. */
export function canBeTold(failure: ChannelFailure): boolean {
  return failure.kind !== 'gone' && failure.kind !== 'forbidden';
}

/** Told in the chat when the platform refused a part for good, in Markdown. */
export function refusedNotice(reason: string): string {
  return `⚙️ A part of my answer could not be delivered: ${reason}`;
}
