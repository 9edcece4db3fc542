import { setImmediate } from 'node:timers/promises';
import { type Clock, type ReplyRoute, shownLiteral } from '@parley/core';
import { renderInSteps } from '@parley/markup';
import type { AgentFile, NewPart, PartWithBytes, Post, PostResult, Store } from '@parley/store';
import { markSystemMessage, visibleText } from './answer/visible-text.ts';

export interface PostDeps {
  readonly store: Pick<Store, 'outbox'>;
  readonly deliver: (channel: string, account: string, chatId: string) => Promise<void>;
  readonly clock: Clock;
}

export interface NewMessage extends Pick<Post, 'key' | 'turn'> {
  /** From what the store knows of the chat, never from what a model wrote. */
  readonly route: ReplyRoute;
  readonly markdown: string;
  /** Sent with the text as its caption. */
  readonly file?: AgentFile;
  /** With the system mark (G08), because its readers have not asked for it. */
  readonly isMarked: boolean;
  /** Below the last part; the text says how to decide without them. */
  readonly buttons?: readonly NonNullable<NewPart['buttons']>[number][];
}

/** `nothing`: no part of it is visible. */
export type PostedMessage = PostResult | { readonly kind: 'nothing' };

/**
 * Sends a message that is no answer, through the outbox like answers, and once for each key. A crash at
 * any point doubles nothing and loses nothing (D04, G16).
 */
export async function postMessage(
  { store, deliver, clock }: PostDeps,
  { route, markdown, isMarked, file, buttons, ...post }: NewMessage,
): Promise<PostedMessage> {
  const seen = visibleText(markdown, { known: new Set() });
  const text = seen.kind === 'silent' ? '' : seen.text;
  const shown = isMarked ? markSystemMessage(text) : text;
  const [caption, ...others] = text.trim() === '' ? [] : await renderParts(shown, route);
  const first = file === undefined ? caption : withFile(file, caption, route);
  if (first === undefined) return { kind: 'nothing' };
  const parts = withButtons([first, ...others], buttons);
  const result = await store.outbox.post({ ...post, parts }, clock());
  if (!('chat' in result)) return result;
  // Also for a known post: the call that stored it may have died before this.
  await deliver(result.chat.channel, result.chat.account, result.chat.chatId);
  return result;
}

export interface NoticeDeps extends PostDeps {
  readonly store: Pick<Store, 'outbox' | 'groupContext'>;
}

/** Sends a notice of Parley itself; the conversation's next turn knows of it, as people may answer it (P18). */
export async function postNotice(
  deps: NoticeDeps,
  {
    key,
    route: { replyToMessageId: _, ...route },
    conversationId,
    markdown,
    buttons,
  }: Pick<NewMessage, 'key' | 'route' | 'markdown' | 'buttons'> & {
    readonly conversationId: string;
  },
): Promise<void> {
  await postMessage(deps, { key, route, markdown, isMarked: true, ...(buttons && { buttons }) });
  const { channel, account, chatId } = route;
  await deps.store.groupContext.keepOwn(
    { conversationId, channel, account, chatId },
    { key, what: 'notice', text: shownLiteral(markdown) },
    deps.clock(),
  );
}

function withButtons(
  [first, ...others]: Post['parts'],
  buttons: NewMessage['buttons'],
): Post['parts'] {
  if (buttons === undefined) return [first, ...others];
  const last = others.at(-1);
  if (last === undefined) return [{ ...first, buttons: [...buttons] }];
  return [first, ...others.slice(0, -1), { ...last, buttons: [...buttons] }];
}

/** A file with a rendered text as its caption. */
export function withFile(
  { bytes, ...file }: AgentFile,
  caption: NewPart | undefined,
  route: ReplyRoute,
): PartWithBytes {
  const body = caption?.body ?? { text: '', plain: '' };
  return { route, body, file: { ...file, size: bytes.byteLength }, bytes };
}

/** Markdown as parts of the outbox; in steps, so that a long text holds up no other chat (M06). */
export async function renderParts(
  markdown: string,
  route: ReplyRoute,
  target = route.target,
): Promise<readonly NewPart[]> {
  const bodies = await renderInSteps(markdown, target, setImmediate);
  return bodies.map((body) => ({ route, body }));
}
