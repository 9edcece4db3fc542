import type { ChatAddress, MessageCapability } from '@parley/channels';
import { BoundedMap, ChannelError, type RenderedPart } from '@parley/core';
import { type Adapter, defaultEmojiResolver, type EmojiValue } from 'chat';
import { toCallFailure, toRepeatableError } from './failures.ts';
import type { LocationConverter } from './places.ts';
import { toPostableText } from './postable.ts';
import { createNotReadyError } from './send.ts';
import type { NamedTraits } from './traits.ts';

/**
 * Replaces a message's text and removes its buttons, for adapters whose own edits leave the buttons
 * in place.
 */
export type RewordMessage = (
  address: ChatAddress,
  messageId: string,
  body: RenderedPart,
) => Promise<void>;

interface MessageDeps {
  readonly adapter: Adapter;
  readonly places: LocationConverter;
  readonly traits: NamedTraits;
  readonly reword?: RewordMessage | undefined;
  readonly isReady: () => boolean;
}

const MAX_REACTED = 5_000;

/**
 * Edits and deletes the bot's own messages and reacts to other people's messages, as far as the
 * platform allows this.
 */
export function createMessageCapability(deps: MessageDeps): MessageCapability {
  const { adapter, places, traits, reword, isReady } = deps;
  const repeatable = async ({ chatId }: ChatAddress, work: () => Promise<unknown>) => {
    const what = `${traits.platform} chat ${chatId}`;
    if (!isReady()) throw createNotReadyError(what);
    try {
      await work();
    } catch (thrown) {
      throw thrown instanceof ChannelError ? thrown : toRepeatableError(thrown, what);
    }
  };
  return {
    ...(traits.edit && {
      edit: (address: ChatAddress, messageId: string, body: RenderedPart) =>
        repeatable(address, async () => {
          if (reword !== undefined) return reword(address, messageId, body);
          const threadId = await places.threadIdOf(address);
          return adapter.editMessage(threadId, messageId, toPostableText(body));
        }),
    }),
    ...(traits.delete && {
      delete: (address: ChatAddress, messageId: string) =>
        repeatable(address, async () => {
          const threadId = await places.threadIdOf(address);
          await adapter.deleteMessage(threadId, messageId).catch((thrown: unknown) => {
            // The message no longer exists, which is the desired result.
            if (toCallFailure(thrown).failure.kind !== 'gone') throw thrown;
          });
        }),
    }),
    ...(traits.react && { react: createReactFunction(deps, repeatable) }),
  };
}

function createReactFunction(
  { adapter, places }: MessageDeps,
  repeatable: (address: ChatAddress, work: () => Promise<unknown>) => Promise<void>,
): NonNullable<MessageCapability['react']> {
  /** The bot's reaction to each message, which is needed to remove the reaction. */
  const current = new BoundedMap<string, EmojiValue>(MAX_REACTED);
  return (address, messageId, emoji) =>
    repeatable(address, async () => {
      const threadId = await places.threadIdOf(address);
      const key = `${threadId} ${messageId}`;
      const before = current.get(key);
      // The resolver maps an emoji to the name that adapters use.
      const next = emoji === undefined ? undefined : defaultEmojiResolver.fromGChat(emoji);
      if (before !== undefined && before !== next) {
        await ignoreError(
          /no_reaction|not.found/i,
          adapter.removeReaction(threadId, messageId, before),
        );
        current.delete(key);
      }
      if (next === undefined) return;
      await ignoreError(/already_reacted/i, adapter.addReaction(threadId, messageId, next));
      current.set(key, next);
    });
}

/** Ignores errors that report that the change was already made. */
async function ignoreError(done: RegExp, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (thrown) {
    if (!done.test(toCallFailure(thrown).reason)) throw thrown;
  }
}
