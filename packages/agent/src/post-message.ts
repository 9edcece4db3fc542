import { setImmediate } from 'node:timers/promises';
import { type Clock, decodeLiteralText, type ReplyRoute } from '@parley/core';
import { renderInSteps } from '@parley/markup';
import type {
  AgentFile,
  NewPart,
  PartWithBytes,
  PostRequest,
  PostResult,
  Store,
} from '@parley/store';
import { getVisibleAnswer, markSystemMessage } from './answer/visible-text.ts';

export interface PostDeps {
  readonly store: Pick<Store, 'outbox'>;
  readonly deliver: (channel: string, account: string, chatId: string) => Promise<void>;
  readonly clock: Clock;
}

export interface TurnPostRequest extends Pick<PostRequest, 'key' | 'turn'> {
  /** Built from the stored facts about the chat, never from text by a model. */
  readonly route: ReplyRoute;
  readonly markdown: string;
  /** A file to send, with the text as its caption. */
  readonly file?: AgentFile;
  /** Adds the system mark (G08), because the readers did not request this message. */
  readonly isMarked: boolean;
  /**
   * Buttons below the last part. The text must explain how to decide without buttons, because some
   * platforms have none.
   */
  readonly buttons?: readonly NonNullable<NewPart['buttons']>[number][];
}

/** `nothing` means that the message has no visible part. */
export type PostedMessage = PostResult | { readonly kind: 'nothing' };

/**
 * Sends a message that is not an answer. Like an answer, the message goes through the outbox once
 * per key, so a crash neither duplicates nor loses it (D04, G16).
 */
export async function postMessage(
  { store, deliver, clock }: PostDeps,
  { route, markdown, isMarked, file, buttons, ...post }: TurnPostRequest,
): Promise<PostedMessage> {
  const seen = getVisibleAnswer(markdown, { known: new Set() });
  const text = seen.kind === 'silent' ? '' : seen.text;
  const shown = isMarked ? markSystemMessage(text) : text;
  const [caption, ...others] = text.trim() === '' ? [] : await renderParts(shown, route);
  const first = file === undefined ? caption : createFilePart(file, caption, route);
  if (first === undefined) return { kind: 'nothing' };
  const parts = addButtonsToPart([first, ...others], buttons);
  const result = await store.outbox.post({ ...post, parts }, clock());
  if (!('chat' in result)) return result;
  // Delivery is also woken for a message that is already stored, because the process that stored it
  // may have died before waking delivery.
  await deliver(result.chat.channel, result.chat.account, result.chat.chatId);
  return result;
}

export interface NoticeDeps extends PostDeps {
  readonly store: Pick<Store, 'outbox' | 'groupContext'>;
}

/**
 * Sends a notice from Parley. The conversation's next turn sees it, because people may reply to it
 * (P18).
 */
export async function postNotice(
  deps: NoticeDeps,
  {
    key,
    route: { replyToMessageId: _, ...route },
    conversationId,
    markdown,
    buttons,
  }: Pick<TurnPostRequest, 'key' | 'route' | 'markdown' | 'buttons'> & {
    readonly conversationId: string;
  },
): Promise<void> {
  await postMessage(deps, { key, route, markdown, isMarked: true, ...(buttons && { buttons }) });
  const { channel, account, chatId } = route;
  await deps.store.groupContext.keepOwn(
    { conversationId, channel, account, chatId },
    { key, what: 'notice', text: decodeLiteralText(markdown) },
    deps.clock(),
  );
}

function addButtonsToPart(
  [first, ...others]: PostRequest['parts'],
  buttons: TurnPostRequest['buttons'],
): PostRequest['parts'] {
  if (buttons === undefined) return [first, ...others];
  const last = others.at(-1);
  if (last === undefined) return [{ ...first, buttons: [...buttons] }];
  return [first, ...others.slice(0, -1), { ...last, buttons: [...buttons] }];
}

/** A message part with a file, whose rendered text is the caption. */
export function createFilePart(
  { bytes, ...file }: AgentFile,
  caption: NewPart | undefined,
  route: ReplyRoute,
): PartWithBytes {
  const body = caption?.body ?? { text: '', plain: '' };
  return { route, body, file: { ...file, size: bytes.byteLength }, bytes };
}

/**
 * Renders Markdown into parts for the outbox. Works in steps, so that a long text does not block
 * other chats (M06).
 */
export async function renderParts(
  markdown: string,
  route: ReplyRoute,
  target = route.target,
): Promise<readonly NewPart[]> {
  const bodies = await renderInSteps(markdown, target, setImmediate);
  return bodies.map((body) => ({ route, body }));
}
