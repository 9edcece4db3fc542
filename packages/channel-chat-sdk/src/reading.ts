import type { InboundMessage } from '@parley/core';

/** What a message says, and how much of it its sender typed. */
export interface Words
  extends Pick<InboundMessage, 'text' | 'authored' | 'quotation' | 'replyTo' | 'mentions'> {
  /** Whether the bot is addressed, as far as the text shows it. */
  readonly isMention: boolean;
  /** The place around the chat that access lists may name. */
  readonly within?: string | undefined;
}

/** The bot as people mention it. */
export interface BotNames {
  readonly userName: string;
  readonly userId: string | undefined;
  /** Slack: the workspace of the bot. */
  readonly teamId?: string | undefined;
}

/** Everything that reading a message may need. */
export interface Reading {
  readonly platform: string;
  readonly bot: BotNames;
  /** The display name of a user. */
  readonly nameOf: (userId: string) => Promise<string | undefined>;
}
