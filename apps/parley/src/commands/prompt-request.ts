import { ChatType } from '@parley/contracts';
import type { PromptMode } from '@parley/prompt';
import { CliError } from '../cli-error.ts';
import type { HypotheticalMessage } from '../inspector/hypothetical-turn.ts';

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

/** Reads what was typed about a turn that might be. Throws CliError that says what to type instead. */
export function previewRequest(flags: PromptFlags): Extract<PromptRequest, { kind: 'preview' }> {
  const { channel, account, chatId, title, user, name, text, layout, heartbeat = false } = flags;
  if (channel === undefined) {
    throw usage(
      'Say which turn: --list for those there were, --last for the newest, --turn or --message with an id, --diff for two, or --channel for one that might be.',
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
