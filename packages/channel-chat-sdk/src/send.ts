import { readFile } from 'node:fs/promises';
import type { ChatAddress } from '@parley/channels';
import { ChannelError, getOutboundFilePath, type OutboundPart, type Receipt } from '@parley/core';
import type { Adapter, AdapterPostableMessage, FileUpload } from 'chat';
import { toCallFailure, toSendError, withAbortSignal } from './failures.ts';
import type { LocationConverter } from './places.ts';
import { escapeEmojiTokens, isCard, toPostable, toPostableText } from './postable.ts';
import type { NamedTraits } from './traits.ts';

/** Sends a file and its caption as one message, for adapters that would send two messages. */
export type FileUploader = (
  address: ChatAddress,
  file: { readonly name: string; readonly bytes: Uint8Array; readonly caption: string },
  signal: AbortSignal,
  onStart: (() => void) | undefined,
) => Promise<Receipt>;

export interface SendDeps {
  readonly adapter: Adapter;
  readonly places: LocationConverter;
  readonly traits: NamedTraits;
  readonly upload?: FileUploader | undefined;
  /** Runs a send whose message carries a key, on platforms that support keys. */
  readonly keyed?: (<T>(key: string, send: () => Promise<T>) => Promise<T>) | undefined;
  readonly isReady: () => boolean;
  /** Called when the platform rejects the account itself, and when the platform accepts a call. */
  readonly accountIs: (state: 'refused' | 'accepted', reason: string) => void;
}

/** Sends one message part; rejects only with a `ChannelError`. */
export async function sendPart(
  deps: SendDeps,
  part: OutboundPart,
  signal: AbortSignal,
  onStart: (() => void) | undefined,
): Promise<Receipt> {
  const what = `${deps.traits.platform} chat ${part.route.chatId}`;
  if (!deps.isReady()) throw createNotReadyError(what);
  let isStarted = false;
  const started = (): void => {
    isStarted = true;
    onStart?.();
  };
  try {
    const send = () => postPart(deps, part, signal, started);
    const sending = deps.keyed === undefined ? send() : deps.keyed(part.idempotencyKey, send);
    const receipt = await withAbortSignal(sending, signal);
    deps.accountIs('accepted', '');
    return receipt;
  } catch (thrown) {
    if (thrown instanceof ChannelError) throw thrown;
    const { isAccount, reason } = toCallFailure(thrown);
    if (isAccount) deps.accountIs('refused', reason);
    const error = toSendError(thrown, what);
    // Nothing was sent before the start, regardless of what the error says.
    if (isStarted || error.failure.kind !== 'unknown-outcome') throw error;
    throw new ChannelError({ kind: 'transient', untried: true }, error.message, thrown);
  }
}

async function postPart(
  { adapter, places, traits, upload }: SendDeps,
  part: OutboundPart,
  signal: AbortSignal,
  onStart: () => void,
): Promise<Receipt> {
  const { route, body, file } = part;
  const threadId = await places.threadIdOf(route);
  if (file === undefined) {
    const message = toPostable(part, traits);
    onStart();
    try {
      return await postText(adapter, threadId, message, route.replyToMessageId);
    } catch (thrown) {
      const { kind } = toCallFailure(thrown).failure;
      if (kind !== 'refused-format' || !isCard(message)) throw thrown;
      // People can also answer a question with its number or code, so the buttons are left out.
      return postText(adapter, threadId, toPostableText(body), route.replyToMessageId);
    }
  }
  const { name, mimeType } = file;
  const bytes = await readFile(getOutboundFilePath(file));
  if (upload !== undefined) {
    return upload(route, { name, bytes, caption: body.text }, signal, onStart);
  }
  const files: FileUpload[] = [{ data: bytes, filename: name, mimeType }];
  onStart();
  const sent = await adapter.postMessage(threadId, { raw: escapeEmojiTokens(body.text), files });
  return { platformMessageId: sent.id };
}

/** There was no attempt, because the account is not connected yet. */
export function createNotReadyError(what: string): ChannelError {
  const message = `${what}: not connected yet. Parley will try again once it is connected.`;
  return new ChannelError({ kind: 'transient', untried: true }, message);
}

async function postText(
  adapter: Adapter,
  threadId: string,
  message: AdapterPostableMessage,
  quoted: string | undefined,
): Promise<Receipt> {
  const sent =
    quoted === undefined || adapter.reply === undefined
      ? await adapter.postMessage(threadId, message)
      : await adapter.reply(threadId, quoted, message);
  return { platformMessageId: sent.id };
}
