import type { InboundMessage, RenderTarget, ReplyRoute } from '@parley/core';
import { z } from 'zod';

/**
 * A built-in user interface for chatting: the web page or the terminal. The two differ in how they
 * show text.
 */
export interface WebFrontEnd {
  readonly channel: 'web' | 'terminal';
  /** The front end's name in the settings form. */
  readonly title: string;
  /** The front end's description in the settings form. */
  readonly about: string;
  /** The front end's name in the start banner. */
  readonly as: string;
  readonly target: RenderTarget;
  /** Whether the front end has buttons for choices; otherwise choices are typed. */
  readonly buttons: boolean;
}

/**
 * The chat that every front end has; the holder of the token is the owner. The page can start more
 * chats.
 */
export const CHAT_ID = 'main';

/**
 * The id of a chat, chosen by the page that starts it; a chat exists once it has a message. With
 * the prefix `@NAME/`, the chat is with the agent that has this name (F14).
 */
export const ChatId = z.string().regex(/^(?:@[a-z0-9][a-z0-9-]{0,31}\/)?(?:main|[0-9a-f]{32})$/);

/** The owner's user id on web and terminal; `web:owner` and `terminal:owner` are owners. */
export const OWNER_ID = 'owner';

/**
 * Neither a page nor a terminal limits the length of a message, so an answer is a single part. In
 * UTF-16 units.
 */
const NO_LIMIT = 4_000_000;

/** The web page receives safe HTML from Parley's own printer. */
export const WEB: WebFrontEnd = {
  channel: 'web',
  title: 'Chat on the web page',
  about: 'The owner’s chats on this gateway’s web page.',
  as: 'the web page',
  target: { dialect: 'html', maxLength: NO_LIMIT, unit: 'utf16' },
  buttons: true,
};

/** `parley chat` receives plain text. */
export const TERMINAL: WebFrontEnd = {
  channel: 'terminal',
  title: 'Chat in the terminal',
  about: 'The owner’s chat with parley chat.',
  as: 'parley chat',
  target: { dialect: 'plain', maxLength: NO_LIMIT, unit: 'utf16' },
  buttons: false,
};

/** A chat of the page that Parley fills itself. */
export interface PageChat extends Pick<InboundMessage, 'chat'> {
  readonly route: ReplyRoute;
  readonly owner: InboundMessage['sender'];
}

/** Describes a chat of the page other than the first one, as messages from the page do. */
export function createPageChat(id: string): PageChat {
  const place = { channel: WEB.channel, account: 'default' };
  return {
    chat: { id, type: 'direct', separate: true },
    route: { ...place, chatId: id, chatType: 'direct', streams: true, target: WEB.target },
    owner: { id: OWNER_ID, name: 'Owner', isBot: false },
  };
}
