import type { Capabilities, RenderTarget } from '@parley/core';
import type { Adapter } from 'chat';

/**
 * What a platform can do, as far as the interface of its adapter does not show it: every adapter
 * has a method to edit messages, and some throw in it.
 */
export interface Traits {
  readonly target: RenderTarget;
  readonly edit: boolean;
  readonly delete: boolean;
  readonly react: boolean;
  readonly typing: boolean;
  readonly buttons: boolean;
  /** The longest label of a button, in characters; a longer one is cut. */
  readonly maxLabel: number;
  /** `plain`: next to buttons, text is shown without formats. */
  readonly cards?: 'plain';
  /** The longest text of a block next to buttons, in characters, and the most blocks. */
  readonly blocks?: { readonly maxLength: number; readonly max: number };
  /** The most buttons of a message, if there may be fewer than eight. More are left out. */
  readonly maxButtons?: number;
  readonly media: Capabilities['media'];
  readonly maxFileBytes?: number;
  /** A second send with the same key is recognized. */
  readonly keyed?: true;
  readonly rates?: Capabilities['rates'];
  /** How often "typing" must be repeated, in ms. */
  readonly typingMs: number;
  /**
   * Whether the bot can read what it has sent: with `fetchMessages`, and where a chat has no
   * threads, as a direct chat of Slack, possibly with `fetchChannelMessages`.
   */
  readonly history: 'none' | 'thread' | 'channel';
  /** The shortest time between two edits of a growing answer, in ms; absent: answers do not grow. */
  readonly growMs?: number;
}

/** The traits of an adapter with the name of its platform. */
export interface NamedTraits extends Traits {
  readonly platform: string;
}

/** Nothing is promised for an adapter that is not listed: it sends text and receives messages. */
const UNKNOWN: Traits = {
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

/** The adapters that Parley is tested with, by their package. */
const TRAITS: Readonly<Record<string, Traits>> = {
  '@chat-adapter/slack': {
    ...UNKNOWN,
    // Slack splits a longer text, and refuses to edit one.
    target: { dialect: 'slack', maxLength: 4_000, unit: 'utf16' },
    edit: true,
    delete: true,
    react: true,
    buttons: true,
    maxLabel: 75,
    blocks: { maxLength: 3_000, max: 40 },
    media: ALL_MEDIA,
    // A file is read as a whole.
    maxFileBytes: 100 * MB,
    // One message a second in each channel, with short bursts.
    rates: { direct: { burst: 4, everyMs: 1_000 }, group: { burst: 4, everyMs: 1_000 } },
    // The status stays for two minutes.
    typingMs: 60_000,
    history: 'channel',
    // 50 edits a minute.
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
    // The picture is part of the message, which may have 100 kB, and base64 takes a third of that.
    maxFileBytes: 70_000,
    // Per conversation 7 messages a second and 60 in 30 s.
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
    // One write a second in each space.
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
    // GitHub asks for at most 80 new contents a minute.
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

/** The traits of an adapter, by the name of its package. */
export function traitsOf(use: string): Traits {
  return TRAITS[use] ?? UNKNOWN;
}

/** The traits without what the adapter has no method for: an adapter may be older than its type. */
export function traitsWithin(traits: NamedTraits, adapter: Partial<Adapter>): NamedTraits {
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
    // An unfinished answer may have to be deleted.
    ...(growMs !== undefined && edit && has('deleteMessage') && { growMs }),
  };
}
