import type {
  ChannelAdapter,
  ChannelContext,
  ChatAddress,
  ChatStateBeforePart,
} from '@parley/channels';
import { BoundedMap, type OutboundPart, type Receipt } from '@parley/core';
import type { AdapterExtensions } from './beside.ts';
import { withAbortSignal } from './failures.ts';
import { GrowingAnswerManager } from './growing.ts';
import { findMatchingMessage, readBotMessages } from './history.ts';
import { createMessageCapability, type RewordMessage } from './messages.ts';
import { type SendDeps, sendPart } from './send.ts';

interface OutgoingDeps
  extends SendDeps,
    Pick<ChannelContext<unknown>, 'values' | 'log' | 'clock' | 'monotonic' | 'holdsAccount'> {
  readonly stopping: AbortSignal;
  readonly reword?: RewordMessage | undefined;
  readonly findByKey?: AdapterExtensions['findByKey'];
  readonly lacks?: AdapterExtensions['lacks'];
  /** Resolves once the adapter can recognize its own messages. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
}

/** An account's methods for sending, changing and finding messages. */
export interface OutgoingCapabilities {
  readonly sending: Pick<
    ChannelAdapter,
    'reportsStart' | 'send' | 'findSent' | 'streaming' | 'messages'
  >;
  /** `plain` is the message's text, in case this process does not know it. */
  withoutButtons(address: ChatAddress, messageId: string, plain: string | undefined): Promise<void>;
}

const MAX_OFFERED = 1_000;

export function createOutgoingCapabilities(deps: OutgoingDeps): OutgoingCapabilities {
  const { findByKey, lacks } = deps;
  const { growMs, history } = deps.traits;
  /** The text of messages with buttons, keyed by chat and message. */
  const offered = new BoundedMap<string, string>(MAX_OFFERED);
  const own = async (address: ChatAddress, signal: AbortSignal) => {
    await deps.ready(signal);
    return withAbortSignal(readBotMessages(deps, address), signal);
  };
  const growing =
    growMs === undefined
      ? undefined
      : new GrowingAnswerManager({ ...deps, ownMessages: own }, growMs);
  const messages = createMessageCapability(deps);
  const send = async (
    part: OutboundPart,
    signal: AbortSignal,
    onStart?: () => void,
  ): Promise<Receipt> => {
    const grown = await growing?.complete(part, signal);
    const receipt = grown ?? (await sendPart(deps, part, signal, onStart));
    const key = keyOf(part.route.chatId, receipt.platformMessageId);
    if (part.buttons !== undefined) offered.set(key, part.body.text);
    return receipt;
  };
  const findSent = async (part: OutboundPart, before: ChatStateBeforePart, signal: AbortSignal) => {
    const grown = await growing?.complete(part, signal);
    if (grown !== undefined) return grown.platformMessageId;
    if (findByKey !== undefined) return findByKey(part.idempotencyKey, signal);
    const found = findMatchingMessage(await own(part.route, signal), part, before);
    if (found !== undefined || lacks === undefined) return found;
    return (await withAbortSignal(lacks(part, before), signal)) ? null : undefined;
  };
  return {
    sending: {
      reportsStart: true,
      send,
      ...((history !== 'none' || findByKey !== undefined) && { findSent }),
      ...(growing && { streaming: growing }),
      messages,
    },
    async withoutButtons(address, messageId, plain) {
      const text = offered.get(keyOf(address.chatId, messageId)) ?? plain;
      if (text !== undefined) await messages.edit?.(address, messageId, { text, plain: text });
    },
  };
}

const keyOf = (chatId: string, messageId: string): string => `${chatId} ${messageId}`;
