import type { ChatType } from '@parley/core';

/**
 * The text for something that a person sent and that Parley cannot read (F16); `what` includes its
 * article: `a story`. In a direct chat the person waits for an answer, so the agent is asked to say
 * that it cannot read this. Elsewhere it is only mentioned.
 */
export function describeUnread(what: string, chatType: ChatType): string {
  const named = `They sent ${what}, which cannot be read here.`;
  return chatType === 'direct'
    ? `[${named} Say so, and ask for text, a picture or a file.]`
    : `[${named}]`;
}
