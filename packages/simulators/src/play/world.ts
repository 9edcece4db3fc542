import { z } from 'zod';

/** The platforms that can be played. */
export const PLATFORMS = ['telegram', 'discord', 'whatsapp'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** Everything there is to see on one platform at a moment, in the same form for all of them. */
export interface SimulatedWorld {
  readonly platform: Platform;
  /** The name of the bot for people. */
  readonly bot: string;
  /** `you` is the owner of the bot. */
  readonly people: readonly SimulatedPerson[];
  readonly chats: readonly SimulatedChat[];
  /** The menu that the bot has registered. */
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  /** The abilities of people of this platform, and the faults it can have. */
  readonly can: Abilities;
  readonly faults: readonly FaultName[];
  /** The newest calls of the bot, oldest first. */
  readonly calls: readonly SimulatedCall[];
  /** Milliseconds since 1970 in the world, and how far that is ahead of the machine. */
  readonly now: number;
  readonly ahead: number;
}

export interface SimulatedPerson {
  readonly key: string;
  readonly name: string;
  /** As the platform writes it. */
  readonly id: string;
}

export interface SimulatedChat {
  readonly key: string;
  readonly kind: 'direct' | 'group' | 'thread';
  readonly title: string;
  /** As the platform writes it. */
  readonly id: string;
  /** For a thread: its group. */
  readonly parent?: string | undefined;
  /** Keys of people. */
  readonly members: readonly string[];
  /** Out: kicked from the group, or blocked by the person. */
  readonly isBotIn: boolean;
  readonly isTyping: boolean;
  /** The notice that one person got about a button they pressed, beside the messages. */
  readonly notice?: { readonly to: string; readonly text: string; readonly at: number } | undefined;
  readonly messages: readonly SimulatedMessage[];
}

export interface SimulatedMessage {
  /** The author and a number in this chat, such as `ann:1` or `bot:2`: the same whenever a scene is played. */
  readonly key: string;
  /** `bot`, or the key of a person. */
  readonly from: string;
  readonly at: number;
  /** The visible text. */
  readonly text: string;
  /** The same as the platform draws it; everything in it is escaped. */
  readonly html: string;
  readonly isEdited: boolean;
  readonly isDeleted?: boolean | undefined;
  /** It is still being written. */
  readonly isGrowing?: boolean | undefined;
  /** Only this person sees it. */
  readonly onlyFor?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly files: readonly { readonly name: string; readonly type: string }[];
  readonly buttons: readonly string[];
  readonly reactions: readonly { readonly emoji: string; readonly by: readonly string[] }[];
  /** Why it does not look right, by the strict parser of the platform. */
  readonly violations: readonly string[];
}

export interface SimulatedCall {
  readonly at: number;
  readonly call: string;
  readonly outcome: string;
  readonly isTrouble: boolean;
}

/** The abilities that not every platform has. */
export interface Abilities {
  readonly delete: boolean;
  readonly press: boolean;
  readonly thread: boolean;
  /** A person stops the bot from writing to them. */
  readonly block: boolean;
}

/** The faults of the bot's next message or of its connection. */
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

/** The largest flood, in messages. */
export const MAX_OF_A_FLOOD = 500;

/** An act of a player. Chats, people and messages are named by their keys. */
export const Act = z.discriminatedUnion('kind', [
  /** On Discord a text that begins with `/` and the name of a command is that command. */
  act('say', {
    chat: z.string(),
    from: z.string(),
    text,
    /** The bot is mentioned before the text, as people do it there. */
    mention: z.boolean().optional(),
    replyTo: z.string().optional(),
    file: z.strictObject({ name, type: z.string(), base64: z.base64() }).optional(),
  }),
  act('edit', { ...at, text }),
  act('delete', at),
  act('react', { ...at, from: z.string(), emoji: z.string(), gone: z.boolean().optional() }),
  act('press', { ...at, from: z.string(), button: z.string() }),
  act('person', { name }),
  /** With `you` and these people; the bot is a member from the start. */
  act('group', { name, members: z.array(z.string()) }),
  /** A topic or thread of a group. */
  act('thread', { chat: z.string(), from: z.string(), name }),
  /** The bot is kicked from a group or added again; in a direct chat it is blocked or unblocked. */
  act('bot', { chat: z.string(), isIn: z.boolean() }),
  act('flood', {
    chat: z.string(),
    from: z.string(),
    text,
    count: z.int().min(1).max(MAX_OF_A_FLOOD),
    mention: z.boolean().optional(),
  }),
  /** `chat`: only there; `seconds`: how long a rate limit asks to wait; `times`: how often it happens. */
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
export type Act = z.infer<typeof Act>;
export type ActOf<Kind extends Act['kind']> = Extract<Act, { kind: Kind }>;
