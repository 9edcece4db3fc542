import { z } from 'zod';
import { ChatType } from './inbound-message.ts';

/** The layouts that the settings can name (P03). */
export const LAYOUT_NAMES = ['parley', 'mushroom', 'lab', 'zeus', 'openclaw', 'neomagi'] as const;

/** The audience of a piece of text. `conversation` is a single chat. */
export const Audience = z.readonly(
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('owner') }),
    z.strictObject({ kind: z.literal('conversation'), conversationId: z.string() }),
    z.strictObject({ kind: z.literal('everyone') }),
  ]),
);
export type Audience = z.infer<typeof Audience>;

/**
 * The reader of the result of a turn, computed once from the turn's facts. Only an owner in a
 * direct chat is `owner`.
 */
export type Reader =
  | { readonly kind: 'owner'; readonly conversationId: string }
  | { readonly kind: 'guest'; readonly conversationId: string };

/** A piece of text for a prompt: where it came from and who may see it. */
export const PromptPart = z.readonly(
  z.object({
    text: z.string(),
    /** A file name or a layer id, shown to people. */
    source: z.string(),
    audience: Audience,
  }),
);
export type PromptPart = z.infer<typeof PromptPart>;

/**
 * The privacy rule (W02), used by the workspace view, the tools and the last check before the
 * model.
 */
export function mayRead(reader: Reader, audience: Audience): boolean {
  switch (audience.kind) {
    case 'everyone':
      return true;
    case 'owner':
      return reader.kind === 'owner';
    case 'conversation':
      return reader.conversationId === audience.conversationId;
  }
}

/** Whether the text is among the instructions, or precedes the person's own text as data. */
const PromptPlacement = z.enum(['system', 'user']);

/** A piece of text that a model was given in addition to the conversation. */
export const SentPart = z.readonly(
  z.strictObject({
    /** The layer (or hook) that provided it. */
    layer: z.string(),
    /** `tools`: the definitions of all tools, one per line, which precede the system prompt. */
    placement: z.enum(['tools', ...PromptPlacement.options]),
    source: z.string(),
    audience: Audience,
    /**
     * Whether the part precedes the cache boundary; text up to that point is the same in every
     * turn.
     */
    stable: z.boolean(),
    /** Set when the text was truncated (P10). */
    cut: z.nullable(z.strictObject({ shown: z.int(), total: z.int() })),
    /** The estimated number of tokens. */
    tokens: z.int(),
    text: z.string(),
  }),
);
export type SentPart = z.infer<typeof SentPart>;

const place = { layer: z.string(), placement: PromptPlacement };

/**
 * A layer of the layout that the model was not given, with the reason. The record does not contain
 * the layer's text.
 */
export const UnsentLayer = z.readonly(
  z.discriminatedUnion('outcome', [
    z.strictObject({ ...place, outcome: z.literal('absent'), reason: z.string() }),
    /** The layer contained text that this reader may not see (W02). */
    z.strictObject({
      ...place,
      outcome: z.literal('withheld'),
      source: z.string(),
      audience: Audience,
    }),
    z.strictObject({ ...place, outcome: z.literal('failed'), reason: z.string() }),
  ]),
);
export type UnsentLayer = z.infer<typeof UnsentLayer>;

/**
 * A prompt as it was sent to the model, with an account of what was not sent (P17). Parts are in
 * order.
 */
export interface SentPrompt {
  readonly layout: string;
  readonly parts: readonly SentPart[];
  readonly unsent: readonly UnsentLayer[];
}

/** Tokens are an estimate. */
export interface MessageSize {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly characters: number;
  readonly tokens: number;
}

/**
 * One kind of content of a request. `context` is the part of the newest message that precedes the
 * person's text.
 */
export interface RequestSection {
  readonly name: 'tools' | 'system' | 'context' | 'history' | 'message';
  /** The number of tools, layers or messages. */
  readonly count: number;
  readonly characters: number;
  readonly tokens: number;
}

/** The entire first request of a turn with its sizes and the text of its parts. */
export interface SentRequest extends SentPrompt {
  /** The names of the tools that the model could call. */
  readonly tools: readonly string[];
  /** The conversation, oldest first; the last message is the one that the turn answers. */
  readonly messages: readonly MessageSize[];
  /** The non-empty sections, in the order of the request. */
  readonly sections: readonly RequestSection[];
  readonly characters: number;
  readonly tokens: number;
}

/** Computes the sections of a request and their total. */
export function computeRequestSizes(
  parts: readonly Pick<SentPart, 'placement' | 'tokens' | 'text'>[],
  messages: readonly MessageSize[],
): Pick<SentRequest, 'sections' | 'characters' | 'tokens'> {
  const sizes = { tools: emptySize(), system: emptySize(), user: emptySize() };
  for (const { placement, text, tokens } of parts) {
    const size = sizes[placement];
    size.count += placement === 'tools' ? text.split('\n').length : 1;
    size.characters += text.length;
    size.tokens += tokens;
  }
  const history = emptySize();
  for (const { characters, tokens } of messages.slice(0, -1)) {
    history.count += 1;
    history.characters += characters;
    history.tokens += tokens;
  }
  const { tools, system, user: context } = sizes;
  const last = messages.at(-1);
  const message = {
    count: last === undefined ? 0 : 1,
    characters: Math.max(0, (last?.characters ?? 0) - context.characters),
    tokens: Math.max(0, (last?.tokens ?? 0) - context.tokens),
  };
  const all: readonly RequestSection[] = [
    { name: 'tools', ...tools },
    { name: 'system', ...system },
    { name: 'context', ...context },
    { name: 'history', ...history },
    { name: 'message', ...message },
  ];
  const sections = all.filter(({ count }) => count > 0);
  return {
    sections,
    characters: sections.reduce((sum, { characters }) => sum + characters, 0),
    tokens: sections.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

const emptySize = () => ({ count: 0, characters: 0, tokens: 0 });

/** The chat and people of a turn, for searches. Names and titles are untrusted. */
export const PromptTarget = z.readonly(
  z.strictObject({
    channel: z.string(),
    account: z.string(),
    chatId: z.string(),
    chatType: ChatType,
    title: z.string().optional(),
    /** `telegram:42` */
    personId: z.string(),
    personName: z.string(),
  }),
);
export type PromptTarget = z.infer<typeof PromptTarget>;

/** A message of the conversation that the request contained; its text is in the transcript. */
export const PromptMessage = z.readonly(
  z.strictObject({
    role: z.enum(['user', 'assistant', 'tool']),
    characters: z.int(),
    tokens: z.int(),
    hash: z.string(),
  }),
);
export type PromptMessage = z.infer<typeof PromptMessage>;

/** Each piece of text in a stored prompt is stored once, by hash. */
export const PromptLists = {
  parts: z.array(
    z.strictObject({ ...SentPart.unwrap().omit({ text: true }).shape, hash: z.string() }),
  ),
  unsent: z.array(UnsentLayer),
  /**
   * Role, characters, hash, and tokens (absent in old rows). The fields are unnamed, because the
   * list is long and written with every turn.
   */
  messages: z.array(z.tuple([PromptMessage.unwrap().shape.role, z.int(), z.string()], z.int())),
  names: z.array(z.string()),
} as const;
