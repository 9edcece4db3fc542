import { fieldsOf } from '../chat/wire.ts';

/** A recorded turn in the list. Times in ms; names and titles were chosen by chat users. */
export interface TurnEntry {
  readonly turnId: string;
  readonly conversationId: string;
  readonly at: number;
  readonly layout: string;
  readonly model: string;
  readonly characters: number;
  readonly tokens: number;
  readonly channel: string;
  readonly account: string;
  readonly chatType: string;
  /** Null where a chat has no title. */
  readonly title: string | null;
  readonly personId: string;
  readonly personName: string;
}

/** One page of the list; `next` asks for the one after it. */
export interface TurnPage {
  readonly turns: readonly TurnEntry[];
  readonly next: string | null;
}

/** Who may see a text. */
export type AudienceWord = 'owner' | 'this chat' | 'everyone';

/** One layer as it was sent. */
export interface PromptLayer {
  readonly layer: string;
  readonly placement: 'system' | 'user';
  readonly source: string;
  readonly audience: AudienceWord;
  readonly stable: boolean;
  /** `shown` of `total` characters, null where the text is whole. */
  readonly cut: { readonly shown: number; readonly total: number } | null;
  readonly tokens: number;
  readonly text: string;
}

/** One layer that was not sent, and why. */
export interface UnsentLayer {
  readonly layer: string;
  readonly outcome: 'absent' | 'withheld' | 'failed';
  readonly reason: string;
}

/** What a model is told, or would be. */
export interface PromptBody {
  readonly layout: string;
  readonly layers: readonly PromptLayer[];
  /** Of all layers together. */
  readonly tokens: number;
  readonly unsent: readonly UnsentLayer[];
}

/** Everything that one turn told its model. */
export interface PromptSheet extends PromptBody {
  readonly turn: TurnEntry;
  readonly tools: readonly string[];
  readonly messages: readonly { readonly role: string; readonly characters: number }[];
}

/** Reads the list; entries that this page cannot show are left out. */
export function readTurnPage(data: unknown): TurnPage {
  const { prompts, next } = fieldsOf(data);
  return { turns: listOf(prompts).flatMap((entry) => readTurn(entry) ?? []), next: orNull(next) };
}

/** Reads one recorded prompt; null when it is none. */
export function readSheet(data: unknown): PromptSheet | null {
  const turn = readTurn(data);
  const body = readBody(data);
  if (turn === null || body === null) return null;
  const { tools, messages } = fieldsOf(data);
  return {
    turn,
    ...body,
    tools: listOf(tools).map(textOf),
    messages: listOf(messages).map((message) => {
      const { role, characters } = fieldsOf(message);
      return { role: textOf(role), characters: numberOf(characters) };
    }),
  };
}

/** The layers of any prompt, recorded or not; null when it is none. */
export function readBody(data: unknown): PromptBody | null {
  const { layout, parts, unsent } = fieldsOf(data);
  if (typeof layout !== 'string') return null;
  const layers = listOf(parts).map(readLayer);
  const tokens = layers.reduce((sum, layer) => sum + layer.tokens, 0);
  return { layout, layers, tokens, unsent: listOf(unsent).map(readUnsent) };
}

function readTurn(data: unknown): TurnEntry | null {
  const fields = fieldsOf(data);
  const { turnId, at } = fields;
  if (typeof turnId !== 'string' || typeof at !== 'number') return null;
  const place = fieldsOf(fields.place);
  return {
    turnId,
    at,
    conversationId: textOf(fields.conversationId),
    layout: textOf(fields.layout),
    model: textOf(fields.model),
    characters: numberOf(fields.characters),
    tokens: numberOf(fields.tokens),
    channel: textOf(place.channel),
    account: textOf(place.account),
    chatType: textOf(place.chatType),
    title: orNull(place.title),
    personId: textOf(place.personId),
    personName: textOf(place.personName),
  };
}

function readLayer(data: unknown): PromptLayer {
  const fields = fieldsOf(data);
  return {
    layer: textOf(fields.layer),
    placement: fields.placement === 'user' ? 'user' : 'system',
    source: textOf(fields.source),
    audience: audienceOf(fields.audience),
    stable: fields.stable === true,
    cut: cutOf(fields.cut),
    tokens: numberOf(fields.tokens),
    text: textOf(fields.text),
  };
}

function readUnsent(data: unknown): UnsentLayer {
  const { layer, outcome, reason, source, audience } = fieldsOf(data);
  if (outcome === 'withheld') {
    const why = `${textOf(source)} is for ${audienceOf(audience)}, not for who asked`;
    return { layer: textOf(layer), outcome, reason: why };
  }
  const isFailed = outcome === 'failed';
  return {
    layer: textOf(layer),
    outcome: isFailed ? 'failed' : 'absent',
    reason: textOf(reason),
  };
}

/** What is not understood counts as private. */
function audienceOf(data: unknown): AudienceWord {
  const { kind } = fieldsOf(data);
  if (kind === 'everyone') return kind;
  return kind === 'conversation' ? 'this chat' : 'owner';
}

function cutOf(data: unknown): PromptLayer['cut'] {
  const { shown, total } = fieldsOf(data);
  return typeof shown === 'number' && typeof total === 'number' ? { shown, total } : null;
}

/** A list, or nothing. */
export function listOf(data: unknown): readonly unknown[] {
  return Array.isArray(data) ? data : [];
}

/** A text, or an empty one. */
export function textOf(data: unknown): string {
  return typeof data === 'string' ? data : '';
}

/** A number, or 0. */
export function numberOf(data: unknown): number {
  return typeof data === 'number' ? data : 0;
}

function orNull(data: unknown): string | null {
  return typeof data === 'string' ? data : null;
}
