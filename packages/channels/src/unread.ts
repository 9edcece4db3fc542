import type { ChatType } from '@parley/core';

/**
 * The text that stands for what a person sent and Parley cannot read (F16); `what` has its article: `a story`. In a
 * direct chat the person waits for an answer, so the agent is asked to say so. Elsewhere it is only named.
 */
export function unreadText(what: string, chatType: ChatType): string {
  const named = `They sent ${what}, which cannot be read here.`;
  return chatType === 'direct'
    ? `[${named} Say so, and ask for text, a picture or a file.]`
    : `[${named}]`;
}
