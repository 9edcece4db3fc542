import { hash } from 'node:crypto';
import { toConversationId } from '@parley/channels';
import { createPageChat, type PageChat } from '@parley/channels/web';
import {
  type Clock,
  getConversationAgent,
  type InboundMessage,
  toAgentConversation,
  toDisplayLine,
  toLiteralLine,
} from '@parley/core';
import type { BranchedTurn, NewBranchTurn, RewindPoint, Store } from '@parley/store';
import { markSystemMessage } from '../answer/visible-text.ts';
import { getEntryText } from '../context/history.ts';
import type { MemoryAsker } from '../memory/visible-memories.ts';
import { renderParts } from '../post-message.ts';

/** A request for a second conversation with a copy of another one's history (G23). */
export interface BranchOrder {
  readonly conversationId: string;
  /** Null to copy the whole session. */
  readonly point: RewindPoint | null;
  /** A repeated request opens the same branch. */
  readonly requestId: string;
  /** The person who asks and whose inbox shows the title; '' for the holder of the token. */
  readonly reader: string;
}

export interface OpenedBranch {
  readonly kind: 'opened';
  /** The chat on the page. */
  readonly chatId: string;
  readonly conversationId: string;
  readonly title: string;
  /** Whether the oldest messages were left out. */
  readonly isCut: boolean;
}

/**
 * `unknown`: the session has no such message. `others`: people other than owners wrote in the
 * conversation.
 */
export type BranchResult =
  | OpenedBranch
  | { readonly kind: 'no-conversation' | 'unknown' | 'others' | 'empty' };

interface BranchDeps {
  readonly store: Pick<Store, 'branches' | 'conversations' | 'conversationMarks'>;
  readonly clock: Clock;
}

/** The maximum length of a title in the inbox, in characters. */
const MAX_TITLE = 80;

/**
 * Opens a chat on the page that begins with a conversation's history up to a point. Only owners'
 * conversations can be branched: in a chat on the page the agent reads private files, so other
 * people's messages would become text that instructs it, and their `/forget` would not reach the
 * copy.
 */
export async function openBranch(
  { store, clock }: BranchDeps,
  { conversationId, point, requestId, reader }: BranchOrder,
): Promise<BranchResult> {
  const source = await store.branches.source(conversationId, point);
  if (source === null) return { kind: 'no-conversation' };
  if (source === 'unknown') return { kind: 'unknown' };
  if (!source.isOwners) return { kind: 'others' };
  if (source.turns.length === 0) return { kind: 'empty' };
  const agent = getConversationAgent(conversationId);
  const key = hash('sha256', JSON.stringify([conversationId, requestId])).slice(0, 32);
  const chat = createPageChat(agent === undefined ? key : `@${agent}/${key}`);
  const place = { channel: chat.route.channel, account: chat.route.account, chat: chat.chat };
  const id = toAgentConversation(agent, toConversationId(place));
  const known = (await store.conversations.titles([conversationId], reader)).get(conversationId);
  // Chats of the page have no title of their own; lists show their first message.
  const isNamed = known !== undefined && known !== chat.owner.name;
  const original = isNamed ? known : getFirstWords(source.turns);
  const title = `Branch of ${original}`.slice(0, MAX_TITLE).toWellFormed();
  const notice = `This is a copy of *${toLiteralLine(original)}* up to here. The original stays as it is. What tools have done was done once, and both conversations build on it.`;
  const turns: NewBranchTurn[] = [];
  for (const [nth, turn] of source.turns.entries()) {
    turns.push(await copyTurn(turn, chat, `${key}-${nth}`));
  }
  const { mode, model, summary, isCut } = source;
  const branch = {
    ...{ conversationId: id, route: chat.route, by: reader, mode, model, summary, turns },
    notice: await renderParts(markSystemMessage(notice), chat.route),
  };
  if (await store.branches.create(branch, clock())) {
    await store.conversationMarks.change(reader, id, { kind: 'rename', title });
  }
  return { kind: 'opened', chatId: chat.chat.id, conversationId: id, title, isCut };
}

/** Answers `/branch`, in Markdown. A second call for the same message opens the same branch. */
export async function answerBranchCommand(
  deps: BranchDeps,
  { reader: { conversationId }, messageId: requestId }: Pick<MemoryAsker, 'reader' | 'messageId'>,
  point: RewindPoint | null,
): Promise<string> {
  const result = await openBranch(deps, { conversationId, point, requestId, reader: '' });
  return describeBranch(result);
}

export function describeBranch(result: BranchResult): string {
  switch (result.kind) {
    case 'opened': {
      const cut = result.isCut ? ' The oldest messages are left out.' : '';
      return `I opened *${toLiteralLine(result.title)}* on the page, in the inbox. This conversation stays as it is.${cut}`;
    }
    case 'others':
      return 'Other people have written here, so I cannot copy this conversation into a chat with your private files. `/rewind` works here, and you can start a new chat on the page.';
    case 'unknown':
      return 'I do not see that message any more, so I cannot branch from it.';
    case 'empty':
      return 'There is nothing to copy before that point.';
    case 'no-conversation':
      return 'There is nothing to copy yet.';
  }
}

function getFirstWords([first]: readonly BranchedTurn[]): string {
  const text = first?.entries[0] === undefined ? '' : getEntryText(first.entries[0]);
  return toDisplayLine(text).replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TITLE).toWellFormed();
}

/** Shows a turn's entries as a message of the owner and an answer. */
async function copyTurn(
  { at, entries }: BranchedTurn,
  chat: PageChat,
  messageId: string,
): Promise<NewBranchTurn> {
  const textOf = (role: string) =>
    entries
      .filter((entry) => entry.role === role)
      .map(getEntryText)
      .join('\n\n');
  const [question, answer] = [textOf('user'), textOf('assistant')];
  return {
    ...{ at, entries },
    question: question === '' ? null : createCopy(chat, { at, messageId, text: question }),
    parts: answer.trim() === '' ? [] : await renderParts(answer, chat.route),
  };
}

/** Without `authored.text`, a copy gives no commands and is not quoted as the owner's own words. */
function createCopy(
  { route: { channel, account }, chat, owner }: PageChat,
  { at: sentAt, ...copied }: { readonly at: number; readonly messageId: string; text: string },
): InboundMessage {
  return {
    ...{ channel, account, chat, ...copied, sentAt },
    ...{ sender: owner, authored: {}, mentions: [], addressed: true, variables: {} },
  };
}
