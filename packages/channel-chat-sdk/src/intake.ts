import type {
  ChannelContext,
  ChatAddress,
  CommandInfo,
  IngressOutcome,
  SenderFacts,
} from '@parley/channels';
import { BoundedMap, type InboundMessage, ParleyError, reasonOf } from '@parley/core';
import { type Adapter, type ChatInstance, defaultEmojiResolver, type Message } from 'chat';
import { readAttachments } from './attachments.ts';
import type { ChatNames } from './names.ts';
import { type ChatLocation, type LocationConverter, toChat } from './places.ts';
import { type BotNames, formatPressId, toInbound, toSender } from './to-inbound.ts';
import { readMessageText } from './words.ts';

interface IntakeDeps
  extends Pick<
    ChannelContext<unknown>,
    | 'account'
    | 'receive'
    | 'revise'
    | 'reacted'
    | 'ignored'
    | 'message'
    | 'commands'
    | 'log'
    | 'clock'
  > {
  readonly channel: string;
  readonly adapter: Adapter;
  readonly places: LocationConverter;
  readonly names: ChatNames;
  readonly bot: () => BotNames;
  /** Removes the buttons of a message; `text` is its plain text, if known. */
  readonly withoutButtons: (
    address: ChatAddress,
    messageId: string,
    text: string | undefined,
  ) => Promise<void>;
  /** Called with each message before it is stored. */
  readonly seen: (threadId: string, message: Message) => Promise<void>;
}

type ChatInstanceEvent<Method extends keyof ChatInstance> = ChatInstance[Method] extends (
  event: infer E,
  ...rest: never[]
) => unknown
  ? E
  : never;
type ParsedMessage = Message | (() => Promise<Message>);

const MAX_REACTED = 5_000;
const MAX_EMOJIS = 20;

/**
 * Passes received events to the core. Each method resolves once its event is stored, and rejects if
 * it cannot be stored.
 */
export class Intake {
  readonly #deps: IntakeDeps;
  /**
   * Each person's reactions to each message. They are remembered because platforms report only
   * changes.
   */
  readonly #reactions = new BoundedMap<string, readonly string[]>(MAX_REACTED);

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
  }

  async message(threadId: string, parsed: ParsedMessage): Promise<void> {
    const message = await read(parsed);
    if (message.author.isMe) return;
    await this.#deps.seen(threadId, message);
    const { inbound, files, root } = await this.#inbound(threadId, message);
    const opensThread = root === message.id && inbound.addressed;
    await this.#receive(inbound, files, opensThread ? { opensThread } : {});
  }

  async edited(threadId: string, parsed: ParsedMessage): Promise<void> {
    const message = await read(parsed);
    if (message.author.isMe) return;
    const { inbound } = await this.#inbound(threadId, message);
    await this.#deps.revise({ kind: 'edited', message: inbound });
  }

  async deleted({
    threadId,
    messageId,
  }: ChatInstanceEvent<'processMessageDeleted'>): Promise<void> {
    const { chatId } = await this.#deps.places.of(threadId);
    await this.#deps.revise({ kind: 'deleted', chatId, messageId });
  }

  /** A button press becomes a message whose text is the button's data. */
  async pressed(event: ChatInstanceEvent<'processAction'>): Promise<void> {
    const { value, actionId, user, raw, threadId } = event;
    // A button on a home page does not belong to a chat.
    if (threadId === '') return;
    const pressed = getPressedMessageId(event);
    const place = await this.#placeOfMessage(threadId, pressed, raw);
    const outcome = await this.#receive({
      ...this.#base(place),
      messageId: formatPressId(event, this.#deps.clock()),
      sender: toSender(user),
      text: value ?? actionId,
      pressed,
    });
    const isSettled = outcome?.kind === 'command' && outcome.settled === true;
    if (isSettled) void this.#removeButtons(place, pressed);
  }

  /**
   * Removes the buttons from a question that was answered. A failure is ignored, because the
   * buttons no longer have an effect.
   */
  async #removeButtons({ chatId, threadId }: ChatLocation, messageId: string): Promise<void> {
    const { message, withoutButtons, log } = this.#deps;
    try {
      const stored = await message(chatId, messageId);
      const text = stored?.by === 'agent' ? stored.text : undefined;
      await withoutButtons({ chatId, threadId }, messageId, text);
    } catch (error) {
      log.debug(
        { reason: reasonOf(error) },
        'the buttons of an answered question could not be removed',
      );
    }
  }

  async reacted(event: ChatInstanceEvent<'processReaction'>): Promise<void> {
    const { user, messageId, emoji, rawEmoji, added, threadId, raw } = event;
    if (user.isMe) return;
    const place = await this.#placeOfMessage(threadId, messageId, raw);
    const key = JSON.stringify([place.chatId, messageId, user.userId]);
    const shown = (defaultEmojiResolver.toGChat(emoji) || rawEmoji).slice(0, 64);
    const others = (this.#reactions.get(key) ?? []).filter((each) => each !== shown);
    // On platforms that allow one reaction per person, such as WhatsApp, an empty emoji removes the
    // reaction.
    const now = shown === '' ? [] : added ? [...others, shown].slice(-MAX_EMOJIS) : others;
    this.#reactions.set(key, now);
    const { channel, account, chat, sentAt } = this.#base(place);
    const sender = toSender(user);
    const emojis = [...now];
    await this.#deps.reacted({ channel, account, chat, messageId, sender, emojis, sentAt });
  }

  /**
   * A slash command, which is either one of Parley's or the app's own command followed by a
   * request.
   */
  async command(event: ChatInstanceEvent<'processSlashCommand'>): Promise<void> {
    const { command, text, user, channelId, triggerId } = event;
    if (channelId === '') return;
    const place = await this.#deps.places.of(channelId);
    const isOurs = isListedCommand(command, this.#deps.commands);
    await this.#receive({
      ...this.#base(place),
      messageId: `command ${triggerId ?? `${user.userId} ${this.#deps.clock()}`}`,
      sender: toSender(user),
      text: isOurs ? `${command} ${text}`.trim() : text,
    });
  }

  /** A person has pressed the platform's stop button. */
  async stopped(event: ChatInstanceEvent<'processAgentSessionStopped'>): Promise<void> {
    const { threadId, userId, streamingMessageTs } = event;
    const place = await this.#deps.places.of(threadId);
    const name = (await this.#deps.names.ofUser(userId)) ?? userId;
    await this.#receive({
      ...this.#base(place),
      messageId: `stop ${streamingMessageTs.at(-1) ?? this.#deps.clock()}`,
      sender: { id: userId, name, isBot: false },
      text: '/stop',
    });
  }

  /** The fields that button presses and commands have in common. */
  #base(place: ChatLocation): Omit<InboundMessage, 'messageId' | 'sender' | 'text'> {
    const { channel, account, names, clock } = this.#deps;
    return {
      ...{ channel, account, chat: toChat(place, names.known(place.chatId)), sentAt: clock() },
      ...{ authored: { text: true }, addressed: true, mentions: [], variables: {} },
    };
  }

  /**
   * The location of the message whose button a person pressed or to which a person reacted.
   * Platform events name the thread that the message would open; the store has the thread to which
   * the message was sent.
   */
  async #placeOfMessage(threadId: string, messageId: string, raw: unknown): Promise<ChatLocation> {
    const { places, message } = this.#deps;
    const place = await places.of(threadId, raw);
    const stored = await message(place.chatId, messageId);
    // A message that was just sent may not be recorded yet.
    if (stored === null)
      return place.root === messageId ? { ...place, threadId: undefined } : place;
    if (stored.by === 'agent') return { ...place, threadId: stored.threadId };
    return isThreadConversation(stored.conversationId, place)
      ? place
      : { ...place, threadId: undefined };
  }

  async #inbound(threadId: string, message: Message) {
    const { adapter, places, names, bot, channel, account } = this.#deps;
    const place = await places.of(threadId, message.raw);
    const reading = { platform: adapter.name, bot: bot(), nameOf: names.ofUser };
    const [words, read] = await Promise.all([
      readMessageText(message, reading),
      readAttachments(adapter, message.attachments),
    ]);
    const inbound = toInbound(message, {
      ...{ channel, account, place, words, read, bot: bot() },
      title: names.known(place.chatId),
      isExternal: adapter.getChannelVisibility?.(threadId) === 'external',
      isOurThread: await this.#isOurThread(place, message, words.mentions),
    });
    if (!place.isDirect) names.learn(place.chatId, threadId);
    return { inbound, files: read.files, root: place.root };
  }

  /**
   * Whether a thread began with a message from the bot or a message that addressed it. In such a
   * thread, people do not need to mention the bot, but they may address others.
   */
  async #isOurThread(
    place: ChatLocation,
    { id }: Message,
    mentions: readonly string[],
  ): Promise<boolean> {
    const { root, isDirect, chatId } = place;
    if (isDirect || root === undefined || root === id || mentions.length > 0) return false;
    const first = await this.#deps.message(chatId, root);
    return (
      first !== null && (first.by === 'agent' || isThreadConversation(first.conversationId, place))
    );
  }

  async #receive(
    message: InboundMessage,
    files?: readonly Uint8Array[],
    facts?: SenderFacts,
  ): Promise<IngressOutcome | undefined> {
    try {
      return await this.#deps.receive(message, facts, files);
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'inbound-invalid') throw error;
      // A redelivered event would be just as invalid.
      this.#deps.log.error({ reason: error.message }, 'an invalid message was skipped');
      return undefined;
    }
  }
}

const read = async (parsed: ParsedMessage): Promise<Message> =>
  typeof parsed === 'function' ? parsed() : parsed;

/** Whether a conversation belongs to this thread rather than to the whole chat. */
function isThreadConversation(conversationId: string, { threadId }: ChatLocation): boolean {
  return threadId !== undefined && conversationId.endsWith(`:${encodeURIComponent(threadId)}`);
}

function isListedCommand(command: string, commands: readonly CommandInfo[]): boolean {
  const name = command.replace(/^\//, '').replaceAll('-', '_').toLowerCase();
  return commands.some((each) => each.name.replaceAll('-', '_') === name);
}

/**
 * In WhatsApp's event, the id is that of the button press, and the context contains the id of the
 * message.
 */
function getPressedMessageId({ messageId, raw }: ChatInstanceEvent<'processAction'>): string {
  const { context } = (raw ?? {}) as { context?: { id?: unknown } };
  return typeof context?.id === 'string' ? context.id : messageId;
}
