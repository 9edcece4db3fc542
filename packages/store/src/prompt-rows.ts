import { hash } from 'node:crypto';
import {
  computeRequestSizes,
  type MessageSize,
  memoizeByText,
  PromptLists,
  type PromptMessage,
  PromptTarget,
  type SentPrompt,
  type SentRequest,
} from '@parley/core';
import type { HiddenStepParts } from './asides.ts';
import { decodeCheckedJson, encodeJson } from './database.ts';

/**
 * Information about a prompt, without its text. Sizes refer to the whole request; token counts are
 * estimates.
 */
export interface PromptSummary {
  readonly turnId: string;
  readonly conversationId: string;
  readonly at: number;
  readonly layout: string;
  /** `provider/model` as chosen before the call. */
  readonly model: string;
  readonly characters: number;
  readonly tokens: number;
  readonly place: PromptTarget;
  /** The platform ids of the messages that the turn answered. */
  readonly messageIds: readonly string[];
  /** Set with several agents: the agent that answers and the routing rule (F14), as text. */
  readonly answeredBy?: string;
}

/** The complete prompt for a turn. */
export interface StoredPrompt extends PromptSummary, SentRequest {
  readonly messages: readonly PromptMessage[];
  /** What the model wrote in addition to its answer, by turn step. */
  readonly asides: readonly HiddenStepParts[];
}

/** A turn's prompt, from which totals and hashes are computed. */
export interface NewPrompt
  extends Omit<PromptSummary, 'characters' | 'tokens' | 'answeredBy'>,
    SentPrompt,
    Pick<SentRequest, 'tools'> {
  readonly messages: readonly (Omit<MessageSize, 'characters'> & { readonly content: string })[];
}

/** A text and its hash; `content` is JSON, which preserves every character. */
export interface HashedText {
  readonly hash: string;
  readonly content: string;
}

/** The total length, in characters, of the texts whose hashes are cached. */
const REMEMBERED = 600_000;

/**
 * Creates a function that hashes texts and caches the results, because most texts occur in many
 * prompts.
 */
export function createTextHasher() {
  return memoizeByText(hashText, REMEMBERED);
}

export function hashText(text: string): HashedText {
  const content = encodeJson(text);
  return { hash: hash('sha256', content, 'base64url'), content };
}

type PromptRecordPart = NewPrompt['parts'][number];

/**
 * Creates a function that serializes prompt parts without their text and caches the results,
 * because most parts are the same object in many prompts.
 */
export function createPartsSerializer(hashOf: (text: string) => HashedText) {
  const known = new WeakMap<PromptRecordPart, string>();
  return (part: PromptRecordPart): string => {
    const json =
      known.get(part) ??
      // JSON omits undefined values.
      encodeJson({ ...part, text: undefined, hash: hashOf(part.text).hash });
    known.set(part, json);
    return json;
  };
}

/** Builds the row that stores a prompt. */
export function toPromptRow(
  prompt: NewPrompt,
  hashOf: (text: string) => HashedText,
  jsonOf: (part: PromptRecordPart) => string,
): PromptRow & { readonly chatId: string } {
  const { parts, place } = prompt;
  const messages = prompt.messages.map(({ content, ...size }) => ({
    ...size,
    characters: content.length,
  }));
  const { characters, tokens } = computeRequestSizes(parts, messages);
  return {
    turnId: prompt.turnId,
    conversationId: prompt.conversationId,
    chatId: place.chatId,
    at: prompt.at,
    layout: prompt.layout,
    model: prompt.model,
    characters,
    tokens,
    place: encodeJson(place),
    messageIds: encodeJson(prompt.messageIds),
    parts: `[${parts.map(jsonOf).join(',')}]`,
    unsent: encodeJson(prompt.unsent),
    tools: encodeJson(prompt.tools),
    messages: toMessagesJson(prompt.messages, hashOf),
  };
}

/**
 * The length of a message hash in characters, about 128 bits. The hash is only used to compare
 * messages; text is never looked up by it.
 */
const MESSAGE_HASH = 22;

/**
 * Builds the JSON directly, because this is the longest list in the row and neither roles nor
 * hashes need escaping.
 */
function toMessagesJson(
  messages: NewPrompt['messages'],
  hashOf: (text: string) => HashedText,
): string {
  let json = '';
  for (const { role, content, tokens } of messages) {
    const comma = json === '' ? '' : ',';
    const hash = shortenHash(hashOf(content));
    json += `${comma}["${role}",${content.length},"${hash}",${tokens}]`;
  }
  return `[${json}]`;
}

const shortenHash = ({ hash }: HashedText): string => hash.slice(0, MESSAGE_HASH);

/** The hash under which a prompt records a message with this content. */
export function hashMessage(content: string): string {
  return shortenHash(hashText(content));
}

export const SUMMARY_COLUMNS = `turn_id as "turnId", conversation_id as "conversationId",
  created_at as at, layout, model, characters, tokens, place, message_ids as "messageIds",
  (select reason from inbox where inbox.turn_id = turn_prompt.turn_id order by seq desc limit 1) as reason`;

/** A row with information about a prompt; `place` and `messageIds` are JSON. */
export interface SummaryRow extends Omit<PromptSummary, 'place' | 'messageIds' | 'answeredBy'> {
  readonly place: string;
  readonly messageIds: string;
  /**
   * Why the newest message is answered: access, activation and, with several agents, the chosen
   * agent.
   */
  readonly reason?: string | null;
}

/** A row with a turn's prompt; its columns are JSON, and the parts refer to texts by hash. */
export interface PromptRow extends SummaryRow {
  readonly parts: string;
  readonly unsent: string;
  readonly tools: string;
  readonly messages: string;
}

/** Converts a row to a prompt summary; throws StoreError `store-damaged`. */
export function toPromptSummary({ reason, ...row }: SummaryRow): PromptSummary {
  const agent = reason?.split('; ')[2];
  return {
    ...row,
    ...(agent !== undefined && { answeredBy: agent }),
    place: decodeCheckedJson(PromptTarget, row.place, 'place of a prompt'),
    messageIds: decodeCheckedJson(PromptLists.names, row.messageIds, 'message ids of a prompt'),
  };
}

/** Lists the distinct hashes in a row's parts; throws StoreError `store-damaged`. */
export function listHashes(row: Pick<PromptRow, 'parts'>): readonly string[] {
  const parts = decodeCheckedJson(PromptLists.parts, row.parts, 'parts of a prompt');
  return [...new Set(parts.map(({ hash }) => hash))];
}

/**
 * Converts a row to the complete prompt. `textOf` looks up text by its hash. Throws StoreError
 * `store-damaged`.
 */
export function toStoredPrompt(
  row: PromptRow,
  textOf: (hash: string) => string,
): Omit<StoredPrompt, 'asides'> {
  const parts = decodeCheckedJson(PromptLists.parts, row.parts, 'parts of a prompt').map(
    ({ hash, ...part }) => ({ ...part, text: textOf(hash) }),
  );
  const messages = decodeCheckedJson(
    PromptLists.messages,
    row.messages,
    'messages of a prompt',
  ).map(([role, characters, hash, tokens = 0]) => ({ role, characters, tokens, hash }));
  return {
    ...toPromptSummary(row),
    ...computeRequestSizes(parts, messages),
    parts,
    unsent: decodeCheckedJson(PromptLists.unsent, row.unsent, 'omitted layers of a prompt'),
    tools: decodeCheckedJson(PromptLists.names, row.tools, 'tools of a prompt'),
    messages,
  };
}
