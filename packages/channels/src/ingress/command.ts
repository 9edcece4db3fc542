import { type Logger, literal, reasonOf } from '@parley/core';
import type { CommandInfo, SenderFacts } from '../adapter.ts';

/** A command, who may use it and where. */
interface CommandSpec extends CommandInfo {
  /** `approver`: owners, and the approvers of the settings. */
  readonly who: 'everyone' | 'owner' | 'approver';
  /** `direct`: it deals in codes, which are private. */
  readonly where: 'anywhere' | 'direct';
  /** How it treats the words after it, so that no command loses any. */
  readonly rest: CommandRest;
  /** It waits for the turn before it and runs as a turn: it asks the model. */
  readonly inTurn?: true;
  /** Menus and help leave it out: buttons send it. */
  readonly unlisted?: true;
  /** It changes the conversation for everyone in it: in groups a setting says who may (`GroupCommands`). */
  readonly changesChat?: true;
}

/**
 * What a command does with the words after its name, and with files beside it. `message`: they are a message, answered
 * after it. `argument`, `text`: it reads all of them, the former without a full stop at the end. `word`, `code`: it reads the first, and the others are a message. `none`: it
 * does nothing with them and says so; `/stop` must never start what it was to end.
 */
export type CommandRest = 'message' | 'argument' | 'text' | 'word' | 'code' | 'none';

const ANYONE = { who: 'everyone', where: 'anywhere' } as const;
const APPROVER = { who: 'approver', where: 'anywhere', rest: 'code', takes: 'CODE' } as const;
const OWNER = { who: 'owner', where: 'anywhere' } as const;
const SHARED = { changesChat: true } as const;
const PRIVATE = { private: true } as const;
const ALONE = { where: 'direct', ...PRIVATE } as const;
const NOTHING = { rest: 'none' } as const;
const MESSAGE = { rest: 'message', takes: '[message]' } as const;
const argument = <T extends string>(takes: T) => ({ rest: 'argument', takes }) as const;
const text = <T extends string>(takes: T) => ({ rest: 'text', takes }) as const;

/** All commands (F09), in the order of the menus; nearly all are answered without the model. */
const TABLE = [
  { name: 'help', summary: 'what I can do', ...ANYONE, ...MESSAGE },
  {
    name: 'new',
    summary: 'start again; I forget what was said in this chat',
    ...ANYONE,
    ...SHARED,
    ...MESSAGE,
  },
  {
    name: 'status',
    summary: 'which model answers and how I am doing',
    ...ANYONE,
    ...PRIVATE,
    ...NOTHING,
  },
  {
    name: 'mode',
    summary: 'how freely I act: agent, ask or plan',
    ...ANYONE,
    ...SHARED,
    ...{ rest: 'word', takes: '[mode]' },
  },
  { name: 'run', summary: 'run the plan I have made, once', ...ANYONE, ...SHARED, ...argument('') },
  {
    name: 'model',
    summary: 'choose the model of this conversation',
    ...OWNER,
    ...PRIVATE,
    ...argument('[name]'),
  },
  { name: 'stop', summary: 'stop what I am doing and drop what waits', ...ANYONE, ...NOTHING },
  {
    name: 'compact',
    summary: 'shorten what I remember',
    ...ANYONE,
    ...SHARED,
    ...MESSAGE,
    inTurn: true,
  },
  { name: 'resend', summary: 'send again what may not have arrived', ...ANYONE, ...argument('') },
  { name: 'approve', summary: 'allow what I asked for', ...APPROVER },
  { name: 'deny', summary: 'refuse what I asked for', ...APPROVER },
  {
    name: 'answer',
    summary: 'answer what I asked you',
    ...ANYONE,
    unlisted: true,
    ...text('CODE answer'),
  },
  { name: 'whoami', summary: 'how I know you', ...ANYONE, ...PRIVATE, ...NOTHING },
  {
    name: 'memory',
    summary: 'what I know about you',
    ...ANYONE,
    ...PRIVATE,
    ...text('[words]'),
  },
  { name: 'forget', summary: 'forget what I know', ...ANYONE, ...PRIVATE, ...text('words') },
  {
    name: 'heartbeat',
    summary: 'my standing tasks; `now` runs one',
    ...OWNER,
    ...PRIVATE,
    ...argument('[now]'),
  },
  {
    name: 'soul',
    summary: 'who I am, and proposals to change that',
    who: 'owner',
    ...ALONE,
    ...argument('[proposal]'),
  },
  {
    name: 'zone',
    summary: 'decide about jobs of an earlier time zone',
    ...OWNER,
    ...PRIVATE,
    unlisted: true,
    ...argument('move or keep'),
  },
  {
    name: 'why',
    summary: 'what became of the last messages',
    ...OWNER,
    ...PRIVATE,
    ...argument('[last]'),
  },
  { name: 'pair', summary: 'allow a person', who: 'owner', ...ALONE, ...argument('[code]') },
  { name: 'link', summary: 'link your accounts', who: 'everyone', ...ALONE, ...argument('[code]') },
] as const satisfies readonly CommandSpec[];

/** The name of a command, without its slash. */
export type CommandName = (typeof TABLE)[number]['name'];

/** The names of the commands that do something at once. */
export type ReadyCommand = Exclude<(typeof TABLE)[number], { readonly inTurn: true }>['name'];

/** A command as it was typed; `splitCommand` says which of its words it reads. */
export interface TypedCommand {
  readonly name: CommandName;
  /** The text after the name, trimmed. */
  readonly argument: string;
  /**
   * It was not typed: words that might decide an approval show what waits. `kept`: they are a message as well; `only`: a
   * bare yes or no.
   */
  readonly spoken?: 'kept' | 'only';
}

/** The commands there are, for help and the platforms' own menus (F09). */
export const COMMANDS: readonly CommandInfo[] = TABLE.flatMap((spec) =>
  'unlisted' in spec
    ? []
    : [
        {
          ...{ name: spec.name, summary: spec.summary },
          ...('private' in spec && PRIVATE),
          ...('takes' in spec && spec.takes !== '' && { takes: spec.takes }),
        },
      ],
);

/** Who asks for a command, and where. */
export interface CommandAsker {
  readonly isOwner: boolean;
  readonly isDirect: boolean;
  readonly isApprover: boolean;
  /** They may change the conversation for everyone in it; see `hasGroupRight`. */
  readonly mayChangeChat: boolean;
}

/** What `/help` shows: what this person can use. */
export function commandsFor(asker: CommandAsker): readonly CommandInfo[] {
  // What is for direct chats alone can be used there.
  return TABLE.filter(
    (spec) => !('unlisted' in spec) && refusal(spec, { ...asker, isDirect: true }) === undefined,
  );
}

const ALIASES: ReadonlyMap<string, CommandName> = new Map([
  ...TABLE.map(({ name }) => [name, name] as const),
  // Telegram opens every chat with a bot by sending /start.
  ['start', 'help'],
]);

/**
 * The command a message is, or null when it is ordinary text: one that does not begin with a command, or with one that is
 * unknown, or with one for another bot (`/stop@my_bot`; an adapter that knows its own name takes it off). Case, a
 * full-width slash, a full stop behind the name and the backticks of a copied command do not matter.
 */
export function parseCommand(text: string): TypedCommand | null {
  const plain = /^\s*`([^`]+)`\s*$/.exec(text)?.[1] ?? text;
  const [, word, argument = ''] = COMMAND.exec(plain) ?? [];
  const name = word === undefined ? undefined : ALIASES.get(word.toLowerCase());
  return name === undefined ? null : { name, argument: argument.trim() };
}

const COMMAND = /^[\s\p{Cf}]*[/／]([a-z]+)[.,:;!?…。！，：；？]*(?:\s+(.*))?$/isu;

/** What a command does with the words after it and with files beside it. */
export function restOf(name: CommandName): CommandRest {
  return TABLE.find((spec) => spec.name === name)?.rest ?? 'none';
}

/** Whether a command goes through the lane like any message. */
export function isInTurn(name: CommandName): boolean {
  return TABLE.some((spec) => spec.name === name && 'inTurn' in spec);
}

/** Whether a command changes a conversation for everyone in it; `/mode` alone only shows the mode. */
export function changesChat({ name, argument }: TypedCommand): boolean {
  if (name === 'mode' && argument === '') return false;
  return TABLE.some((spec) => spec.name === name && 'changesChat' in spec);
}

/** Names that no skill's command may have: Parley's own, and what platforms send by themselves. */
export const RESERVED_COMMANDS: readonly string[] = [...ALIASES.keys()];

/** Whether a text is a command of the list, with or without text after it; `-` and `_` are one. */
export function isCommand(text: string, commands: readonly CommandInfo[]): boolean {
  const word = /^\s*\/([a-z0-9_-]+)(?:\s|$)/i.exec(text)?.[1]?.toLowerCase();
  const plain = (name: string | undefined) => name?.replaceAll('-', '_');
  return word !== undefined && commands.some(({ name }) => plain(name) === plain(word));
}

/** Whether a command runs, or is answered at once and why. */
export type CommandDecision =
  | { readonly kind: 'run'; readonly name: ReadyCommand }
  | { readonly kind: 'decline'; readonly why: Refusal };

type Refusal = 'owner-only' | 'approver-only' | 'direct-only' | 'group-right';

/** Decides by who asks and where; permission comes first, so that a refusal reveals nothing. */
export function decideCommand(name: CommandName, asker: CommandAsker): CommandDecision {
  const spec = TABLE.find((one) => one.name === name);
  if (spec === undefined) throw new Error(`The command /${name} is in no table.`);
  const why = refusal(spec, asker);
  if (why !== undefined) return { kind: 'decline', why };
  if ('inTurn' in spec) throw new Error(`The command /${name} runs as a turn.`);
  return { kind: 'run', name: spec.name };
}

function refusal(
  spec: CommandSpec,
  { isOwner, isDirect, isApprover, mayChangeChat }: CommandAsker,
): Refusal | undefined {
  if (spec.who === 'owner' && !isOwner) return 'owner-only';
  if (spec.who === 'approver' && !isApprover) return 'approver-only';
  if (spec.where === 'direct' && !isDirect) return 'direct-only';
  return spec.changesChat === true && !mayChangeChat ? 'group-right' : undefined;
}

/**
 * Who may use commands that change a group's conversation for everyone in it (`/new`, `/mode`,
 * `/compact`, and `/stop` of other people's turns). Each step includes those before it.
 */
export type GroupCommands = 'owners' | 'approvers' | 'administrators' | 'everyone';

/** What is known of the sender without asking the platform. */
export interface SenderRank {
  readonly isDirect: boolean;
  readonly isOwner: boolean;
  readonly isApprover: boolean;
}

/** Decides by the setting alone; `ask` where only the platform knows. */
export function groupRight(
  rule: GroupCommands,
  { isDirect, isOwner, isApprover }: SenderRank,
): 'granted' | 'denied' | 'ask' {
  if (isDirect || isOwner || rule === 'everyone') return 'granted';
  if (rule === 'owners') return 'denied';
  if (isApprover) return 'granted';
  return rule === 'administrators' ? 'ask' : 'denied';
}

/** What a platform says later about a sender does not count. In ms. */
const ANSWER_WITHIN_MS = 3_000;

/** As `groupRight`, and asks the platform where that decides; without an answer in time the sender has no right. */
export async function hasGroupRight(
  rule: GroupCommands,
  rank: SenderRank,
  { isAdministrator }: SenderFacts,
  log: Pick<Logger, 'warn'>,
  withinMs = ANSWER_WITHIN_MS,
): Promise<boolean> {
  const right = groupRight(rule, rank);
  if (right !== 'ask') return right === 'granted';
  if (isAdministrator === undefined) return false;
  return (await askPlatform(isAdministrator, 'who is an administrator', log, withinMs)) ?? false;
}

/** What a platform says of a sender; undefined where it does not answer in time. */
export async function askPlatform<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  what: string,
  log: Pick<Logger, 'warn'>,
  withinMs = ANSWER_WITHIN_MS,
): Promise<T | undefined> {
  const signal = AbortSignal.timeout(withinMs);
  const late = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => late.reject(signal.reason), { once: true });
  try {
    return await Promise.race([ask(signal), late.promise]);
  } catch (error) {
    log.warn({ reason: reasonOf(error) }, `the platform did not say ${what}`);
    return undefined;
  }
}

/** The refusal of such a command: it says who may use it. */
export function groupRefusal(name: string, rule: GroupCommands): string {
  const who = {
    owners: 'my owner',
    approvers: 'my owner and those my owner has named',
    administrators: 'administrators of this group, my owner and those my owner has named',
    everyone: 'everyone here',
  }[rule];
  return `/${name} changes this conversation for everyone here, so it is for ${who}.`;
}

/**
 * The commands of skills that a reader may use now (S08). Ingress does not carry them out: such a
 * message starts a turn, and the turn decides whether its reader may see the skill.
 */
export type SkillCommands = (
  audience: 'owner' | 'others',
  agent?: string,
) => Promise<readonly CommandInfo[]>;

/** Most skills that `/help` lists, and most characters of what it says of one. */
const LISTED = 30;
const SUMMARY = 120;

/** What `/help` says of skills, in Markdown lines; none where there is no skill to call. */
export function skillHelp(commands: readonly CommandInfo[]): readonly string[] {
  if (commands.length === 0) return [];
  const more = commands.length - LISTED;
  return [
    '\nSkills:\n',
    ...commands.slice(0, LISTED).map(({ name, summary }) => `- /${name} – ${shortened(summary)}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ];
}

/** Written by the author of a skill, so no markup of ours. */
function shortened(summary: string): string {
  const characters = [...summary];
  if (characters.length <= SUMMARY) return literal(summary);
  return `${literal(characters.slice(0, SUMMARY).join(''))} …`;
}
