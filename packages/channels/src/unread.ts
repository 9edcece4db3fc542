import type { ChatType } from '@parley/core';

/**
 * The text in place of content that Parley cannot read (F16); `what` includes its article: `a
 * story`. In a direct chat the person waits for an answer, so the agent is asked to say that the
 * content cannot be read. In groups, the text only mentions the content.
 */
export function describeUnreadContent(what: string, chatType: ChatType): string {
  const named = `They sent ${what}, which cannot be read here.`;
  return chatType === 'direct'
    ? `[${named} Say so, and ask for text, a picture or a file.]`
    : `[${named}]`;
}
