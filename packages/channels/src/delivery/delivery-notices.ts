import type { Button, ChannelFailure } from '@parley/contracts';

/** What a chat reads about a part, in Markdown. `⚙️` marks the system (G08). */
export interface Notice {
  readonly markdown: string;
  readonly buttons?: Button[];
}

/**
 * Sent when nobody knows whether a part arrived (D04). `key` is the part's idempotency key; a command
 * takes the place of the button on platforms without buttons.
 */
export function uncertainNotice(key: string, hasButtons: boolean): Notice {
  const what =
    '⚙️ I was interrupted while sending a message, and cannot tell whether it arrived. If it is missing,';
  if (!hasButtons) return { markdown: `${what} \`/resend\` sends it again.` };
  const button = { label: 'Send it again', data: `/resend ${key}` };
  return { markdown: `${what} I can send it again.`, buttons: [button] };
}

/** Whether a chat can still be told that something went wrong in it. */
export function canBeTold(failure: ChannelFailure): boolean {
  return failure.kind !== 'gone' && failure.kind !== 'forbidden';
}

/** Sent when the platform refused a part for good. */
export function refusedNotice(reason: string): Notice {
  return { markdown: `⚙️ A part of my answer could not be delivered: ${reason}` };
}
