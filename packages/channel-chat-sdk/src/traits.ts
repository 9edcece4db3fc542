import type { Capabilities, RenderTarget } from '@parley/core';
import type { Adapter } from 'chat';

/**
 * What a platform supports beyond what its adapter's interface shows: every adapter has a method
 * for edits, but in some adapters it throws.
 */
export interface PlatformTraits {
  readonly target: RenderTarget;
  readonly edit: boolean;
  readonly delete: boolean;
  readonly react: boolean;
  readonly typing: boolean;
  readonly buttons: boolean;
  /** The maximum length of a button label, in characters; longer labels are truncated. */
  readonly maxLabel: number;
  /** `plain`: text next to buttons appears without formatting. */
  readonly cards?: 'plain';
  /**
   * The maximum length, in characters, of a text block next to buttons, and the maximum number of
   * blocks.
   */
  readonly blocks?: { readonly maxLength: number; readonly max: number };
  /**
   * The maximum number of buttons per message, if it is lower than eight; if there are more, all of
   * them are left out.
   */
  readonly maxButtons?: number;
  readonly media: Capabilities['media'];
  readonly maxFileBytes?: number;
  /** Whether the platform recognizes a second send with the same idempotency key. */
  readonly keyed?: true;
  readonly rates?: Capabilities['rates'];
  /** The interval (ms) at which the typing indicator must be repeated. */
  readonly typingMs: number;
  /**
   * Whether the bot can read its own messages: in threads with `fetchMessages`, and in chats
   * without threads (direct Slack chats) possibly with `fetchChannelMessages`.
   */
  readonly history: 'none' | 'thread' | 'channel';
  /**
   * The minimum time (ms) between two edits of an unfinished answer; absent if unfinished answers
   * are not shown.
   */
  readonly growMs?: number;
}

export interface NamedTraits extends PlatformTraits {
  readonly platform: string;
}

/** An adapter that is not listed here can only send text and receive messages. */
const UNKNOWN: PlatformTraits = {
  target: { dialect: 'gfm', maxLength: 2_000, unit: 'utf16' },
  edit: false,
  delete: false,
  react: false,
  typing: true,
  buttons: false,
  maxLabel: 64,
  media: [],
  typingMs: 4_000,
  history: 'none',
};

const ALL_MEDIA: Capabilities['media'] = ['image', 'audio', 'voice', 'video', 'document'];
const MB = 1_024 * 1_024;

/** The adapters that Parley is tested with, by package name. */
const TRAITS: Readonly<Record<string, PlatformTraits>> = {
  '@chat-adapter/slack': {
    ...UNKNOWN,
    // Slack splits a longer text, and refuses an edit with a longer text.
    target: { dialect: 'slack', maxLength: 4_000, unit: 'utf16' },
    edit: true,
    delete: true,
    react: true,
    buttons: true,
    maxLabel: 75,
    blocks: { maxLength: 3_000, max: 40 },
    media: ALL_MEDIA,
    // The adapter loads the whole file into memory.
    maxFileBytes: 100 * MB,
    // Slack allows one message a second in each channel, with short bursts.
    rates: { direct: { burst: 4, everyMs: 1_000 }, group: { burst: 4, everyMs: 1_000 } },
    // Slack shows the typing status for two minutes.
    typingMs: 60_000,
    history: 'channel',
    // Slack allows 50 edits a minute.
    growMs: 1_500,
  },
  '@chat-adapter/teams': {
    ...UNKNOWN,
    target: { dialect: 'teams', maxLength: 12_000, unit: 'utf16' },
    edit: true,
    delete: true,
    react: true,
    buttons: true,
    cards: 'plain',
    media: ['image'],
    // The picture is part of the message, which is limited to 100 kB, and base64 adds a third to
    // the size.
    maxFileBytes: 70_000,
    // Teams allows 7 messages a second and 60 in 30 s per conversation.
    rates: { direct: { burst: 5, everyMs: 600 }, group: { burst: 5, everyMs: 600 } },
    history: 'thread',
    growMs: 2_000,
  },
  '@chat-adapter/gchat': {
    ...UNKNOWN,
    target: { dialect: 'google-chat', maxLength: 30_000, unit: 'byte' },
    edit: true,
    delete: true,
    react: true,
    // Google Chat has no typing indicator for apps.
    typing: false,
    buttons: true,
    cards: 'plain',
    keyed: true,
    // Google Chat allows one write a second in each space.
    rates: { direct: { burst: 1, everyMs: 1_000 }, group: { burst: 1, everyMs: 1_000 } },
    history: 'thread',
  },
  '@chat-adapter/github': {
    ...UNKNOWN,
    target: { dialect: 'gfm', maxLength: 65_536, unit: 'utf16' },
    edit: true,
    delete: true,
    react: true,
    typing: false,
    // GitHub allows at most 80 new comments and issues a minute.
    rates: { account: { burst: 5, everyMs: 1_000 } },
    history: 'thread',
  },
  '@chat-adapter/linear': {
    ...UNKNOWN,
    target: { dialect: 'gfm', maxLength: 65_536, unit: 'utf16' },
    edit: true,
    delete: true,
    react: true,
    history: 'thread',
  },
  '@chat-adapter/whatsapp': {
    ...UNKNOWN,
    target: { dialect: 'whatsapp', maxLength: 4_096, unit: 'utf16' },
    react: true,
    buttons: true,
    maxLabel: 20,
    blocks: { maxLength: 1_024, max: 1 },
    maxButtons: 3,
    media: ALL_MEDIA,
    maxFileBytes: 16 * MB,
    typingMs: 20_000,
  },
};

export function getTraits(use: string): PlatformTraits {
  return TRAITS[use] ?? UNKNOWN;
}

/**
 * The traits for which an adapter has methods; an installed adapter may be older than its types.
 */
export function restrictTraits(traits: NamedTraits, adapter: Partial<Adapter>): NamedTraits {
  const { growMs, ...others } = traits;
  const has = (method: keyof Adapter): boolean => typeof adapter[method] === 'function';
  const edit = traits.edit && has('editMessage');
  return {
    ...others,
    edit,
    delete: traits.delete && has('deleteMessage'),
    react: traits.react && has('addReaction') && has('removeReaction'),
    typing: traits.typing && has('startTyping'),
    history: has('fetchMessages') ? traits.history : 'none',
    // Showing unfinished answers requires deletion, because an unfinished answer may have to be
    // removed.
    ...(growMs !== undefined && edit && has('deleteMessage') && { growMs }),
  };
}
