import type { InboundMessage } from '@parley/core';

/** The chat and the author of a message. */
export type MessageOrigin = Pick<InboundMessage, 'chat' | 'sender' | 'addressed'>;

/** A message written by a person. */
export interface PersonStatement {
  readonly platform: string;
  readonly text: string;
  readonly chat: string;
  readonly by: string;
}

/**
 * The questions that a bot message answers. The message may mention other questions, such as one
 * that waits for an approval.
 */
export function findAnsweredQuestions(text: string): readonly string[] {
  if (!text.includes('This answers')) return [];
  return [...new Set(text.match(/\bq\d+\b/g) ?? [])];
}
