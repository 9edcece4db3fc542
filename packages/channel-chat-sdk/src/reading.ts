import type { InboundMessage } from '@parley/core';

/** The content of a message, and how much of it its sender typed. */
export interface MessageWords
  extends Pick<InboundMessage, 'text' | 'authored' | 'quotation' | 'replyTo' | 'mentions'> {
  /** Whether the text addresses the bot. */
  readonly isMention: boolean;
  /** The organization or workspace around the chat, which access lists may name. */
  readonly within?: string | undefined;
}

export interface BotNames {
  readonly userName: string;
  readonly userId: string | undefined;
  /** The workspace of the Slack bot. */
  readonly teamId?: string | undefined;
}

export interface ReadingContext {
  readonly platform: string;
  readonly bot: BotNames;
  /** The display name of a user. */
  readonly nameOf: (userId: string) => Promise<string | undefined>;
}
