import { createHash } from 'node:crypto';
import type { ChatAddress, StreamingCapability } from '@parley/channels';
import { BoundedMap, type Logger, type Monotonic, reasonOf } from '@parley/core';
import type { TelegramApi } from './api.ts';
import { hasSoleRecipient } from './ephemeral.ts';
import { toCallFailure } from './failures.ts';
import type { GrowingMessageManager } from './growing.ts';
import { isForeignChat, parseThreadId, toRequestFields } from './places.ts';
import type { WireMessage } from './wire.ts';

export interface DraftsDeps {
  readonly api: Pick<TelegramApi, 'call'>;
  readonly log: Logger;
  readonly monotonic: Monotonic;
  readonly stopping: AbortSignal;
  /** See `ChannelContext.holdsAccount`. */
  readonly holdsAccount: () => boolean;
}

/** Streaming through drafts; a final message waits for pending draft calls. */
export interface DraftStreaming extends StreamingCapability {
  /** Stops showing drafts for this turn, because its answer is about to be sent. */
  finish(turnId: string): Promise<void>;
  /** Stops showing drafts for a turn after a person has pressed stop. */
  stopped(draftId: number): void;
}

/**
 * The deadline of a draft call, in ms. The answer waits for it, and a later draft would be useless.
 */
const DRAFT_TIMEOUT_MS = 5_000;
/** The number of completed turns that are remembered, enough for late updates. */
const REMEMBERED = 1_000;

/**
 * Shows a growing answer as a draft. Drafts exist only in private chats and vanish 30 s after the
 * last update or when a message arrives, so nothing has to be deleted. A draft is one message, so
 * for a long answer it shows the part that is being written. A server without drafts is tried only
 * once.
 */
export function createDraftStreaming(deps: DraftsDeps): DraftStreaming {
  const { log, monotonic } = deps;
  const underWay = new Map<string, Promise<void>>();
  const state: DraftState = {
    known: true,
    notBefore: new BoundedMap(REMEMBERED),
    over: new BoundedMap(REMEMBERED),
    stopped: new BoundedMap(REMEMBERED),
  };
  return {
    minIntervalMs: 1_000,
    // A quick answer would overtake its draft, making that call useless.
    firstAfterMs: 400,
    async update({ chatId, threadId }, turnId, answer) {
      if (!state.known || state.over.has(turnId) || isDraftStopped(state, turnId)) return;
      if (monotonic() < (state.notBefore.get(chatId) ?? 0)) return;
      const showing = answer.show().then(async (parts) => {
        const text = parts.at(-1)?.text;
        if (text === undefined) return;
        const draft = { chat_id: chatId, text, parse_mode: 'HTML', ...toRequestFields(threadId) };
        await sendDraft(deps, state, { turnId, chatId }, draft);
      });
      underWay.set(turnId, showing);
      await showing.finally(() => underWay.delete(turnId));
    },
    // A released turn is resumed under the same id. A draft that is not followed by a message
    // disappears.
    async end(_address, turnId, comes) {
      if (comes === 'nothing') state.over.set(turnId, true);
    },
    async finish(turnId) {
      state.over.set(turnId, true);
      await underWay.get(turnId)?.catch((error: unknown) => {
        log.debug({ turn: turnId, reason: reasonOf(error) }, 'a draft could not be shown');
      });
    },
    stopped(draftId) {
      state.stopped.set(draftId, true);
    },
  };
}

function isDraftStopped({ stopped }: DraftState, turnId: string): boolean {
  return stopped.has(toDraftId(turnId));
}

/** State from earlier drafts. */
interface DraftState {
  /** Whether the server supports drafts. */
  known: boolean;
  /** The time before which Telegram does not accept drafts in each chat, in monotonic time. */
  readonly notBefore: BoundedMap<string, number>;
  /** Turns that no longer show drafts. */
  readonly over: BoundedMap<string, true>;
  /** Drafts whose stop button was pressed. */
  readonly stopped: BoundedMap<number, true>;
}

async function sendDraft(
  { api, log, monotonic, stopping, holdsAccount }: DraftsDeps,
  state: DraftState,
  { turnId, chatId }: { readonly turnId: string; readonly chatId: string },
  draft: object,
): Promise<void> {
  const limit = AbortSignal.any([stopping, AbortSignal.timeout(DRAFT_TIMEOUT_MS)]);
  // Another gateway may already have sent the answer, and a draft would show its beginning a second
  // time below it.
  if (!holdsAccount() || isDraftStopped(state, turnId)) return;
  try {
    const stop = { can_stop: true, keep_on_stop: true };
    await api.call('sendMessageDraft', { ...draft, ...stop, draft_id: toDraftId(turnId) }, limit);
  } catch (thrown) {
    const failure = toCallFailure(thrown);
    if (failure.kind !== 'refused') throw thrown;
    if (failure.code === 404) state.known = false;
    else if (failure.code === 429) {
      state.notBefore.set(chatId, monotonic() + (failure.retryAfterMs ?? 5_000));
    } else state.over.set(turnId, true);
    log.debug({ turn: turnId, reason: failure.reason }, 'draft not shown');
  }
}

/** Combines drafts for private chats with growing messages for groups. */
export function combineStreaming(
  drafts: StreamingCapability,
  growing: Pick<GrowingMessageManager, 'pace' | 'update' | 'discard'>,
): StreamingCapability {
  return {
    ...drafts,
    pace(address, length) {
      // Drafts do not support business connections, and a guest may write only one message.
      if (isForeignChat(address.threadId)) return null;
      return isPrivateChat(address.chatId) ? drafts : growing.pace(address, length);
    },
    update: (address, turnId, answer) =>
      (isPrivateChat(address.chatId) ? drafts : growing).update(address, turnId, answer),
    async end(address, turnId, comes) {
      if (isForeignChat(address.threadId)) return;
      if (isPrivateChat(address.chatId)) await drafts.end(address, turnId, comes);
      else if (comes === 'nothing') await growing.discard(address, turnId);
    },
  };
}

/** Groups and channels have negative ids. */
function isPrivateChat(chatId: string): boolean {
  return !chatId.startsWith('-');
}

/**
 * A draft id, which must not be zero. All updates of a turn share it, so that they replace each
 * other.
 */
function toDraftId(turnId: string): number {
  return (createHash('sha256').update(turnId).digest().readUInt32BE() >>> 1) + 1;
}

/** Telegram shows "typing" for 5 s, so this interval (ms) is shorter. */
const REPEAT_MS = 4_000;
/** The maximum number of forums that are remembered. */
const REMEMBERED_FORUMS = 10_000;

/** Shows "typing"; `seen` receives every message, to learn which chats have topics. */
export interface TypingIndicator {
  readonly repeatMs: number;
  show(address: ChatAddress): Promise<void>;
  readonly seen: (message: Pick<WireMessage, 'chat'>) => void;
}

/**
 * In the general topic of a forum "typing" is shown only with the topic number 1, although messages
 * with that number are refused. Only a forum's messages reveal that a chat is a forum.
 */
export function createTypingIndicator(
  api: Pick<TelegramApi, 'call'>,
  stopping: AbortSignal,
): TypingIndicator {
  const forums = new Set<string>();
  return {
    repeatMs: REPEAT_MS,
    async show(address) {
      const { chatId, threadId } = address;
      // Telegram shows typing neither in a channel's direct messages nor to a guest. In a group, a
      // typing indicator would show everyone that one person is being answered.
      const { kind } = parseThreadId(threadId);
      if (kind === 'subscriber' || kind === 'guest' || hasSoleRecipient(address)) return;
      const isForum = kind !== 'business' && forums.has(chatId);
      const place = isForum ? { message_thread_id: 1 } : {};
      const payload = { chat_id: chatId, action: 'typing', ...place, ...toRequestFields(threadId) };
      await api.call('sendChatAction', payload, stopping);
    },
    seen({ chat }) {
      if (forums.size >= REMEMBERED_FORUMS) forums.clear();
      if (chat.is_forum === true) forums.add(String(chat.id));
      else forums.delete(String(chat.id));
    },
  };
}
