import type { PreviewChange } from '@parley/agent';
import { toConversationId } from '@parley/channels';
import {
  ChatType,
  LAYOUT_NAMES,
  type RenderTarget,
  type ReplyRoute,
  toAgentConversation,
} from '@parley/core';
import { type AlertChat, createExampleRunRequest, type Heartbeat } from '@parley/proactive';
import type { PromptMode } from '@parley/prompt';
import type { ClaimedTurn, HeartbeatRunRequest } from '@parley/store';
import { UsageError } from '../../data-folder.ts';

/** The hypothetical message with its author and chat, from the command line or the page. */
export interface PreviewFlags {
  readonly channel?: string | undefined;
  readonly account?: string | undefined;
  readonly chat?: string | undefined;
  readonly chatId?: string | undefined;
  readonly title?: string | undefined;
  readonly user?: string | undefined;
  readonly name?: string | undefined;
  readonly text?: string | undefined;
  readonly mode?: string | undefined;
  readonly heartbeat?: boolean | undefined;
}

const MODES: readonly PromptMode[] = ['full', 'light', 'minimal', 'none'];

/** Reads the options for a preview. Throws UsageError with a valid alternative. */
export function parsePreviewRequest({
  channel,
  chat,
  mode,
  heartbeat = false,
  ...flags
}: PreviewFlags) {
  if (channel === undefined) {
    throw new UsageError(
      'Select a turn with --list (all stored turns), --last (the newest), --turn or --message (by id) or --diff (two turns), or show a preview with --channel.',
    );
  }
  const message: HypotheticalMessage = { ...flags, channel, chatType: parseChatType(chat) };
  return { message, mode: parseMode(mode), heartbeat };
}

/**
 * The previewed turn in the form in which a worker claims it, and how it differs from a turn in a
 * chat.
 */
interface PreviewedTurn {
  readonly turn: ClaimedTurn;
  readonly change: PreviewChange;
}

export interface PreviewTarget {
  readonly channels: readonly string[];
  readonly agent: string;
  /** The agent's name in conversation ids; undefined for the default agent. */
  readonly name?: string | undefined;
  /** Returns null if there is no database yet; the preview then shows an example run. */
  readonly heartbeat: (
    ...choose: Parameters<Heartbeat['preview']>
  ) => Promise<HeartbeatRunRequest | null>;
  readonly now: number;
}

/** Creates the requested turn. Throws UsageError for invalid options. */
export async function createPreviewedTurn(
  { message, mode, heartbeat }: ReturnType<typeof parsePreviewRequest>,
  place: PreviewTarget,
): Promise<PreviewedTurn> {
  const { channels, agent, name, now } = place;
  const asked = createHypotheticalTurn(message, channels, now);
  const turn = { ...asked, conversationId: toAgentConversation(name, asked.conversationId) };
  if (!heartbeat) return { turn, change: { mode } };
  const choose = (found: AlertChat | null): AlertChat =>
    found !== null && isAlertChat(found, message) ? found : getAlertChat(turn);
  const order =
    (await place.heartbeat(choose)) ?? createExampleRunRequest(choose(null), { agent, now });
  const row = { seq: 0, ...order.message };
  return {
    turn: { ...turn, conversationId: row.conversationId, messages: [row] },
    change: { heartbeat: { target: order.target } },
  };
}

/**
 * Returns whether alerts are actually sent to this chat if the request does not name a chat or a
 * user.
 */
function isAlertChat({ last }: AlertChat, asked: HypotheticalMessage): boolean {
  const { channel, account = last.account, chatType, chatId, user } = asked;
  const isNamed = chatId !== undefined || user !== undefined;
  return (
    !isNamed && channel === last.channel && account === last.account && chatType === last.chat.type
  );
}

function getAlertChat({ conversationId, messages: [row] }: ClaimedTurn): AlertChat {
  if (row === undefined) throw new Error('A preview turn has one message.');
  // Whether the chat belongs to an owner is decided later, from the settings.
  return { kind: 'chat', conversationId, route: row.route, last: row.message, isOwners: false };
}

function parseChatType(given = 'direct'): ChatType {
  const parsed = ChatType.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    `With --channel, --chat must be ${ChatType.options.join(', ')}, not "${given}". --chat-id names a chat.`,
  );
}

function parseMode(given: string | undefined): PromptMode | undefined {
  const mode = MODES.find((candidate) => candidate === given);
  if (mode !== undefined || given === undefined) return mode;
  throw new UsageError(`--mode must be one of ${MODES.join(', ')}, not "${given}".`);
}

/** Parses the layout named by `--layout`. Throws UsageError for an unknown layout. */
export function parseLayout(given: string): (typeof LAYOUT_NAMES)[number] {
  const layout = LAYOUT_NAMES.find((candidate) => candidate === given);
  if (layout !== undefined) return layout;
  throw new UsageError(`--layout must be one of ${LAYOUT_NAMES.join(', ')}, not "${given}".`);
}

export interface HypotheticalMessage
  extends Omit<PreviewFlags, 'channel' | 'chat' | 'mode' | 'heartbeat'> {
  readonly channel: string;
  readonly chatType?: ChatType | undefined;
}

const HYPOTHETICAL_ID = 'hypothetical';

/**
 * The format in which each channel's adapter renders text, as declared by the adapter, so that a
 * preview does not need a connection.
 */
const TARGETS: Readonly<Record<string, RenderTarget>> = {
  web: { dialect: 'html', maxLength: 4_000_000, unit: 'utf16' },
  terminal: { dialect: 'plain', maxLength: 4_000_000, unit: 'utf16' },
  discord: { dialect: 'discord', maxLength: 2_000, unit: 'utf16' },
  telegram: { dialect: 'telegram', maxLength: 4_096, unit: 'utf16' },
  whatsapp: { dialect: 'whatsapp', maxLength: 4_000, unit: 'utf16' },
};
/** Channels whose messages can be quoted, edited, deleted and reacted to. */
const MESSENGERS: ReadonlySet<string> = new Set(['discord', 'telegram', 'whatsapp']);
const SOME_TARGET: RenderTarget = { dialect: 'plain', maxLength: 4_000, unit: 'utf16' };

/** Returns the render target of a channel, which is plain text for channels from plugins. */
function getRenderTarget(channel: string): RenderTarget {
  return TARGETS[channel] ?? SOME_TARGET;
}

/** Returns the abilities of a channel that affect the prompt or its tools. */
function getRouteCapabilities(channel: string): Pick<ReplyRoute, 'quotes' | 'acts' | 'voice'> {
  return {
    ...(MESSENGERS.has(channel) && { quotes: true, acts: ['react', 'edit', 'delete'] }),
    ...(channel in TARGETS && { voice: true }),
  };
}

/**
 * Creates the first turn of a new session, in the form in which a worker claims it. Throws
 * UsageError for an unknown channel.
 */
export function createHypotheticalTurn(
  asked: HypotheticalMessage,
  known: readonly string[],
  now: number,
): ClaimedTurn {
  const { channel, account = 'default' } = asked;
  if (!known.includes(channel)) {
    const names = known.join(', ');
    throw new UsageError(`There is no channel "${channel}". Known: ${names}.`);
  }
  const chat = getChat(asked);
  const { id, name } = getPerson(asked);
  const to = { channel, account, chatId: chat.id, chatType: chat.type };
  const route = { ...to, ...getRouteCapabilities(channel), target: getRenderTarget(channel) };
  const message = {
    channel,
    account,
    messageId: HYPOTHETICAL_ID,
    chat,
    sender: { id, name, isBot: false },
    text: asked.text ?? 'Hello',
    mentions: [],
    addressed: true,
    sentAt: now,
    variables: {},
  };
  const conversationId = toConversationId(message);
  return {
    turnId: HYPOTHETICAL_ID,
    conversationId,
    session: 0,
    resumed: false,
    attempts: 0,
    messages: [
      {
        seq: 0,
        conversationId,
        message,
        route,
        receivedAt: now,
      },
    ],
    groupContext: [],
    steps: [],
  };
}

/** The page and the terminal have only one user, the owner. */
function getPerson({ channel, user, name }: HypotheticalMessage) {
  const isLocal = channel === 'web' || channel === 'terminal';
  const id = user ?? (isLocal ? 'owner' : '1');
  return { id, name: name ?? (isLocal && id === 'owner' ? 'Owner' : 'Somebody') };
}

function getChat(asked: HypotheticalMessage) {
  const { channel, chatType: type = 'direct', title } = asked;
  const named = title === undefined ? {} : { title };
  if (type === 'direct') {
    const own = channel === 'web' || channel === 'terminal' ? 'main' : getPerson(asked).id;
    return { id: asked.chatId ?? own, type, ...named };
  }
  const id = asked.chatId ?? `some-${type}`;
  return { id, type, ...named, ...(type === 'thread' && { threadId: `${id}-thread` }) };
}
