import { conversationIdOf } from '@parley/channels';
import { ChatType, type RenderTarget } from '@parley/contracts';
import type { PromptMode } from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import { CliError } from '../data-folder.ts';

/** The options of `parley prompt` as they were typed. */
export interface PromptFlags {
  readonly list?: true;
  readonly turn?: string;
  readonly message?: string;
  readonly last?: true;
  readonly diff?: true | readonly string[];
  readonly channel?: string | undefined;
  readonly account?: string | undefined;
  readonly chat?: string | undefined;
  readonly chatId?: string | undefined;
  readonly title?: string | undefined;
  readonly user?: string | undefined;
  readonly name?: string | undefined;
  readonly text?: string | undefined;
  readonly layout?: string | undefined;
  readonly mode?: string | undefined;
  readonly heartbeat?: true | undefined;
  readonly limit?: string;
  readonly full?: true;
  readonly json?: true;
}

/** What is to be shown. `chat` of a recorded turn is a conversation or the platform's id of a chat. */
export type PromptRequest =
  | { readonly kind: 'list'; readonly chat: string | undefined; readonly limit: number }
  | { readonly kind: 'turn'; readonly turnId: string }
  | { readonly kind: 'message'; readonly messageId: string; readonly chat: string | undefined }
  | { readonly kind: 'last'; readonly chat: string | undefined }
  | {
      readonly kind: 'compare';
      /** Null: the last two turns of a chat. */
      readonly turns: readonly [string, string] | null;
      readonly chat: string | undefined;
    }
  | {
      readonly kind: 'preview';
      readonly message: HypotheticalMessage;
      readonly layout: string | undefined;
      readonly mode: PromptMode | undefined;
      readonly heartbeat: boolean;
    };

const MODES: readonly PromptMode[] = ['full', 'minimal', 'none'];
const RECORDED = ['list', 'turn', 'message', 'last', 'diff'] as const;
const HYPOTHETICAL = [
  'channel',
  'account',
  'chatId',
  'title',
  'user',
  'name',
  'text',
  'layout',
  'mode',
  'heartbeat',
] as const;

/** Reads what was typed. Throws CliError that says what to type instead. */
export function promptRequest(flags: PromptFlags): PromptRequest {
  const past = RECORDED.filter((name) => flags[name] !== undefined);
  const [chosen] = past;
  if (chosen === undefined) return previewRequest(flags);
  const made = HYPOTHETICAL.filter((name) => flags[name] !== undefined);
  const mixed = [...past, ...made].map(dashed);
  if (mixed.length > 1) {
    throw usage(`${mixed.join(' and ')} do not go together: ask for one turn at a time.`);
  }
  const { chat } = flags;
  switch (chosen) {
    case 'list':
      return { kind: 'list', chat, limit: limitOf(flags.limit) };
    case 'turn':
      return { kind: 'turn', turnId: flags.turn ?? '' };
    case 'message':
      return { kind: 'message', messageId: flags.message ?? '', chat };
    case 'last':
      return { kind: 'last', chat };
    case 'diff':
      return { kind: 'compare', turns: pairOf(flags.diff), chat };
  }
}

/** Reads what was typed about a preview. Throws CliError that says what to type instead. */
export function previewRequest(flags: PromptFlags): Extract<PromptRequest, { kind: 'preview' }> {
  const { channel, account, chatId, title, user, name, text, layout, heartbeat = false } = flags;
  if (channel === undefined) {
    throw usage(
      'Say which turn: --list for those there were, --last for the newest, --turn or --message with an id, --diff for two, or --channel for a preview.',
    );
  }
  const message = { channel, account, chatType: chatTypeOf(flags.chat), chatId, title, user, name };
  return {
    kind: 'preview',
    message: { ...message, text },
    layout,
    mode: modeOf(flags.mode),
    heartbeat,
  };
}

function chatTypeOf(given = 'direct'): ChatType {
  const parsed = ChatType.safeParse(given);
  if (parsed.success) return parsed.data;
  throw usage(
    `--chat is ${ChatType.options.join(', ')} with --channel, not "${given}". --chat-id names a chat.`,
  );
}

function modeOf(given: string | undefined): PromptMode | undefined {
  const mode = MODES.find((candidate) => candidate === given);
  if (mode !== undefined || given === undefined) return mode;
  throw usage(`--mode is ${MODES.join(', ')}, not "${given}".`);
}

function pairOf(given: PromptFlags['diff']): readonly [string, string] | null {
  const turns = given === true || given === undefined ? [] : given;
  const [before, after] = turns;
  if (turns.length === 2 && before !== undefined && after !== undefined) return [before, after];
  if (turns.length === 0) return null;
  throw usage('--diff takes two turns, or none for the last two of a chat.');
}

function limitOf(given = '20'): number {
  const limit = Number(given);
  if (Number.isInteger(limit) && limit > 0 && limit <= 1_000) return limit;
  throw usage(`--limit is a number from 1 to 1000, not "${given}".`);
}

function dashed(name: string): string {
  return `--${name.replace('I', '-i')}`;
}

function usage(message: string): CliError {
  return new CliError('prompt-usage', `${message} "parley prompt --help" shows examples.`);
}

/** Who would write what and where; everything but the channel has a likely value. */
export interface HypotheticalMessage {
  readonly channel: string;
  readonly account?: string | undefined;
  readonly chatType?: ChatType | undefined;
  readonly chatId?: string | undefined;
  readonly title?: string | undefined;
  readonly user?: string | undefined;
  readonly name?: string | undefined;
  readonly text?: string | undefined;
}

/** The message id of a turn that never was. */
const HYPOTHETICAL_ID = 'hypothetical';

/** How each channel shows text, as its adapter declares it; nothing has to be connected to ask. */
const TARGETS: Readonly<Record<string, RenderTarget>> = {
  web: { dialect: 'html', maxLength: 4_000_000, unit: 'utf16' },
  terminal: { dialect: 'plain', maxLength: 4_000_000, unit: 'utf16' },
  discord: { dialect: 'discord', maxLength: 2_000, unit: 'utf16' },
  telegram: { dialect: 'telegram', maxLength: 4_096, unit: 'utf16' },
  whatsapp: { dialect: 'whatsapp', maxLength: 4_000, unit: 'utf16' },
};
/** Channels whose answers can show which message they answer. */
const QUOTING: ReadonlySet<string> = new Set(['discord', 'telegram', 'whatsapp']);
const SOME_TARGET: RenderTarget = { dialect: 'plain', maxLength: 4_000, unit: 'utf16' };

/** How a channel shows text; plain where it is not one of Parley's own. */
export function targetOf(channel: string): RenderTarget {
  return TARGETS[channel] ?? SOME_TARGET;
}

/**
 * The first turn of a new session in that chat, as a worker would claim it. `now` is in ms.
 * Throws CliError for an unknown channel; `known` are the names there are.
 */
export function hypotheticalTurn(
  asked: HypotheticalMessage,
  known: readonly string[],
  now: number,
): ClaimedTurn {
  const { channel, account = 'default' } = asked;
  if (!known.includes(channel)) {
    const names = known.join(', ');
    throw new CliError('prompt-channel', `There is no channel "${channel}". Known: ${names}.`);
  }
  const chat = chatOf(asked);
  const { id, name } = personOf(asked);
  const quotes = QUOTING.has(channel) && ({ quotes: true } as const);
  const route = { channel, account, chatId: chat.id, chatType: chat.type, ...quotes };
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
  const conversationId = conversationIdOf(message);
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
        route: { ...route, target: targetOf(channel) },
        receivedAt: now,
      },
    ],
    overheard: [],
    steps: [],
  };
}

/** On our own page and in the terminal there is one person, who is the owner. */
function personOf({ channel, user, name }: HypotheticalMessage) {
  const isLocal = channel === 'web' || channel === 'terminal';
  const id = user ?? (isLocal ? 'owner' : '1');
  return { id, name: name ?? (isLocal && id === 'owner' ? 'Owner' : 'Somebody') };
}

function chatOf(asked: HypotheticalMessage) {
  const { channel, chatType: type = 'direct', title } = asked;
  const named = title === undefined ? {} : { title };
  if (type === 'direct') {
    const own = channel === 'web' || channel === 'terminal' ? 'main' : personOf(asked).id;
    return { id: asked.chatId ?? own, type, ...named };
  }
  const id = asked.chatId ?? `some-${type}`;
  return { id, type, ...named, ...(type === 'thread' && { threadId: `${id}-thread` }) };
}
