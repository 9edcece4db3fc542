import { z } from 'zod';

/** The platforms that can be simulated. */
export const PLATFORMS = ['telegram', 'discord', 'slack', 'whatsapp'] as const;
export type Platform = (typeof PLATFORMS)[number];

export const PLATFORM_NAMES: Readonly<Record<Platform, string>> = {
  telegram: 'Telegram',
  discord: 'Discord',
  slack: 'Slack',
  whatsapp: 'WhatsApp',
};

/** The visible state of one platform, in the same format for all platforms. */
export interface SimulatedWorld {
  readonly platform: Platform;
  readonly bot: string;
  /** `you` is the owner of the bot. */
  readonly people: readonly SimulatedPerson[];
  readonly chats: readonly SimulatedChat[];
  /** The command menu that the bot has registered. */
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  /** What people can do on this platform, and the faults it supports. */
  readonly can: PlatformFeatures;
  readonly faults: readonly FaultName[];
  /** The bot's latest calls, oldest first. */
  readonly calls: readonly SimulatedCall[];
  /** The simulated time in ms since 1970, and how far it is ahead of the real clock, in ms. */
  readonly now: number;
  readonly ahead: number;
}

export interface SimulatedPerson {
  readonly key: string;
  readonly name: string;
  /** The id that the platform assigned. */
  readonly id: string;
}

export interface SimulatedChat {
  readonly key: string;
  readonly kind: 'direct' | 'group' | 'thread';
  readonly title: string;
  /** The id that the platform assigned. */
  readonly id: string;
  /** The key of the group that contains the thread. */
  readonly parent?: string | undefined;
  /** The keys of the people in the chat. */
  readonly members: readonly string[];
  /** False when the bot was removed from the group, or blocked by the person. */
  readonly isBotIn: boolean;
  readonly isTyping: boolean;
  /** The notice that one person received about a button press. */
  readonly notice?: { readonly to: string; readonly text: string; readonly at: number } | undefined;
  readonly messages: readonly SimulatedMessage[];
}

export interface SimulatedMessage {
  /**
   * The author and a number within the chat, such as `ann:1` or `bot:2`; stable across replays of a
   * scene.
   */
  readonly key: string;
  /** `bot`, or the key of a person. */
  readonly from: string;
  readonly at: number;
  readonly text: string;
  /** The text as HTML in the platform's rendering, with all text escaped. */
  readonly html: string;
  readonly isEdited: boolean;
  readonly isDeleted?: boolean | undefined;
  /** Whether the message is still being streamed. */
  readonly isGrowing?: boolean | undefined;
  /** The only person who can see the message. */
  readonly onlyFor?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly files: readonly { readonly name: string; readonly type: string }[];
  readonly buttons: readonly string[];
  readonly reactions: readonly { readonly emoji: string; readonly by: readonly string[] }[];
  /** The rendering problems that the platform's strict parser found in the message. */
  readonly violations: readonly string[];
}

export interface SimulatedCall {
  readonly at: number;
  readonly call: string;
  readonly outcome: string;
  readonly isTrouble: boolean;
}

/** Features that only some platforms have. */
export interface PlatformFeatures {
  readonly delete: boolean;
  readonly press: boolean;
  readonly thread: boolean;
  /** Whether a person can block the bot. */
  readonly block: boolean;
}

/** Faults that affect the bot's next message or its connection. */
export const FAULT_NAMES = [
  'rate-limit',
  'server-error',
  'format-refused',
  'reset-before',
  'reset-after',
  'hang',
  'duplicate',
  'silence',
  'drop',
  'session-lost',
] as const;
export type FaultName = (typeof FAULT_NAMES)[number];

const name = z.string().trim().min(1).max(60);
const text = z.string().max(100_000);
const at = { chat: z.string(), message: z.string() };
const act = <K extends string, S extends z.ZodRawShape>(kind: K, shape: S) =>
  z.strictObject({ kind: z.literal(kind), ...shape });

/** The maximum number of messages in one flood. */
export const MAX_OF_A_FLOOD = 500;

/** A player's action; chats, people and messages are identified by their keys. */
export const PlayerAct = z.discriminatedUnion('kind', [
  /** On Discord and Slack, text that starts with `/` and a command name runs that command. */
  act('say', {
    chat: z.string(),
    from: z.string(),
    text,
    /** Whether the text starts with a mention of the bot. */
    mention: z.boolean().optional(),
    replyTo: z.string().optional(),
    file: z.strictObject({ name, type: z.string(), base64: z.base64() }).optional(),
  }),
  act('edit', { ...at, text }),
  act('delete', at),
  act('react', { ...at, from: z.string(), emoji: z.string(), gone: z.boolean().optional() }),
  act('press', { ...at, from: z.string(), button: z.string() }),
  act('person', { name }),
  /** Creates a group with `you` and these people; the bot is an initial member. */
  act('group', { name, members: z.array(z.string()) }),
  act('thread', { chat: z.string(), from: z.string(), name }),
  /**
   * Removes the bot from a group or adds it again; in a direct chat, blocks or unblocks the bot.
   */
  act('bot', { chat: z.string(), isIn: z.boolean() }),
  act('flood', {
    chat: z.string(),
    from: z.string(),
    text,
    count: z.int().min(1).max(MAX_OF_A_FLOOD),
    mention: z.boolean().optional(),
  }),
  /**
   * `chat` limits the fault to one chat; `seconds` is the wait that a rate limit requests; `times`
   * is the number of occurrences.
   */
  act('fault', {
    fault: z.enum(FAULT_NAMES),
    chat: z.string().optional(),
    seconds: z.number().min(0).max(3_600).optional(),
    times: z.int().min(1).max(100).optional(),
  }),
  act('clear-faults', {}),
  act('clock', {
    minutes: z
      .number()
      .positive()
      .max(60 * 24 * 400),
  }),
]);
export type PlayerAct = z.infer<typeof PlayerAct>;
export type PlayerActOf<Kind extends PlayerAct['kind']> = Extract<PlayerAct, { kind: Kind }>;
