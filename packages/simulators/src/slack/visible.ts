import { blocksToPlainText, listPressableElements } from './blocks.ts';
import { findEmoji } from './emoji.ts';
import { findViolations } from './violations.ts';
import { toRecords, type WireBlock, type WireMessage } from './wire.ts';
import {
  type Channel,
  createDisplayNames,
  type StoredMessage,
  type Workspace,
} from './workspace.ts';

export interface VisibleMessage {
  /** A number that increases over all conversations in the order the messages appeared. */
  readonly seq: number;
  /** The time at which the message appeared, according to the double's clock, in ms since 1970. */
  readonly at: number;
  readonly channel: string;
  readonly ts: string;
  /** The `ts` of the thread's first message, for a reply. */
  readonly threadTs?: string;
  readonly from: 'bot' | string;
  /** The text without formatting, as rendered from the blocks. */
  readonly text: string;
  readonly blocks: readonly WireBlock[];
  readonly files: readonly { readonly id: string; readonly name: string; readonly type: string }[];
  /** The labels of the message's buttons and menu options. */
  readonly buttons: readonly string[];
  /**
   * Emoji and the people who added them; an emoji that is not in the table is given by its name.
   */
  readonly reactions: readonly (readonly [emoji: string, by: 'bot' | string])[];
  readonly edits: number;
  readonly isGrowing: boolean;
  /** The only person who can see the message. */
  readonly onlyFor?: string;
  /** Names of markup in the message that Slack does not render. */
  readonly violations: readonly string[];
  readonly wire: WireMessage;
}

/** Returns the messages of a conversation including ephemeral ones, oldest first. */
export function listVisibleMessages(workspace: Workspace, channel: Channel): VisibleMessage[] {
  return [...channel.messages.values(), ...channel.ephemeral.values()]
    .sort((a, b) => a.seq - b.seq)
    .map((stored) => toVisibleMessage(workspace, channel, stored));
}

function toVisibleMessage(
  workspace: Workspace,
  channel: Channel,
  stored: StoredMessage,
): VisibleMessage {
  const { wire, seq, at, edits, onlyFor, isGrowing = false } = stored;
  const { blocks = [], files = [], reactions = [], thread_ts: thread } = wire;
  const by = (user: string | undefined) =>
    user === workspace.bot.id ? 'bot' : (user ?? wire.bot_id ?? 'slack');
  const attached = toRecords(wire.attachments);
  const names = createDisplayNames(workspace);
  const inAttachments = attached.flatMap((one) => {
    const inner = toRecords(one.blocks);
    return inner.length > 0
      ? blocksToPlainText(inner, names)
      : String(one.text ?? one.fallback ?? '');
  });
  const from = by(wire.user);
  return {
    ...{ seq, at, channel: channel.id, ts: wire.ts, from, blocks, edits, isGrowing, wire },
    ...(thread !== undefined && thread !== wire.ts && { threadTs: thread }),
    text: [blocksToPlainText(blocks, names), ...inAttachments].filter(Boolean).join('\n'),
    files: files.map(({ id, name, mimetype }) => ({ id, name, type: mimetype })),
    buttons: listPressableElements(blocks).map(({ label }) => label),
    reactions: reactions.flatMap(({ name, users }) =>
      users.map((user) => [findEmoji(name) ?? name, by(user)] as const),
    ),
    ...(onlyFor !== undefined && { onlyFor }),
    violations: from === 'bot' ? findViolations(blocks) : [],
  };
}
