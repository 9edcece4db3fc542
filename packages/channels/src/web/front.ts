import type { RenderTarget } from '@parley/core';
import { z } from 'zod';

/** One of our own places to chat: the web page or the terminal. They differ in how text is shown. */
export interface WebFront {
  readonly channel: 'web' | 'terminal';
  /** Its name in the form of the settings. */
  readonly title: string;
  /** For the settings. */
  readonly about: string;
  /** Named in the start banner. */
  readonly as: string;
  readonly target: RenderTarget;
  /** Choices can be pressed there; else they are typed. */
  readonly buttons: boolean;
}

/** The chat that every front has: the holder of the token is the owner. The page may start others beside it. */
export const CHAT_ID = 'main';

/**
 * The id of a chat, chosen by the page that starts it; a chat is known from its first message on. With `@NAME/` before
 * it, it is a chat with that agent (F14).
 */
export const ChatId = z.string().regex(/^(?:@[a-z0-9][a-z0-9-]{0,31}\/)?(?:main|[0-9a-f]{32})$/);

/** The owner's user id on web and terminal; `web:owner` and `terminal:owner` are owners. */
export const OWNER_ID = 'owner';

/** Neither a page nor a terminal has a limit; one answer is one part. In UTF-16 units. */
const NO_LIMIT = 4_000_000;

/** The web page: HTML made by our own printer, safe to show. */
export const WEB: WebFront = {
  channel: 'web',
  title: 'Chat on the web page',
  about: 'The owner’s chats on the page of this gateway.',
  as: 'the web page',
  target: { dialect: 'html', maxLength: NO_LIMIT, unit: 'utf16' },
  buttons: true,
};

/** `parley chat`: plain text. */
export const TERMINAL: WebFront = {
  channel: 'terminal',
  title: 'Chat in the terminal',
  about: 'The owner’s chat with parley chat.',
  as: 'parley chat',
  target: { dialect: 'plain', maxLength: NO_LIMIT, unit: 'utf16' },
  buttons: false,
};
