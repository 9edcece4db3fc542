import { hash } from 'node:crypto';
import { PromptLists, PromptPlace, rememberTexts } from '@parley/contracts';
import type { Selectable } from 'kysely';
import { fromCheckedJson, toJson } from './json-column.ts';
import type { NewPrompt, PromptSummary, StoredPrompt } from './prompts.ts';

/** A text and what it is known by; `content` is JSON, in which every character survives. */
export interface HashedText {
  readonly hash: string;
  readonly content: string;
}

/** Texts whose hash is remembered, in characters of all together. */
const REMEMBERED = 600_000;

/** Makes the function that puts a text under its hash; most texts are in many prompts. */
export function textHashes() {
  return rememberTexts(hashed, REMEMBERED);
}

/** A text under its hash. */
export function hashed(text: string): HashedText {
  const content = toJson(text);
  return { hash: hash('sha256', content, 'base64url'), content };
}

/** The row of a prompt, whose parts refer to `texts` in their order. */
export function rowOf(
  prompt: NewPrompt,
  texts: readonly HashedText[],
  hashOf: (text: string) => HashedText,
): Selectable<TurnPromptTable> {
  const { parts, place } = prompt;
  return {
    turn_id: prompt.turnId,
    conversation_id: prompt.conversationId,
    chat_id: place.chatId,
    created_at: prompt.at,
    layout: prompt.layout,
    model: prompt.model,
    characters: parts.reduce((sum, { text }) => sum + text.length, 0),
    tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
    place: toJson(place),
    message_ids: toJson(prompt.messageIds),
    // JSON leaves out what is undefined; so no part is copied twice.
    parts: toJson(parts.map((part, at) => ({ ...part, text: undefined, hash: texts[at]?.hash }))),
    unsent: toJson(prompt.unsent),
    tools: toJson(prompt.tools),
    messages: messagesJson(prompt.messages, hashOf),
  };
}

/** As text at once, since it is the longest list of the row: neither a role nor a hash needs escaping. */
function messagesJson(
  messages: NewPrompt['messages'],
  hashOf: (text: string) => HashedText,
): string {
  let json = '';
  for (const { role, content } of messages) {
    const { hash } = hashOf(content);
    json += `${json === '' ? '' : ','}{"role":"${role}","characters":${content.length},"hash":"${hash}"}`;
  }
  return `[${json}]`;
}

/** The columns of a row that tell of a prompt without its texts. */
export const SUMMARY = [
  'turn_id',
  'conversation_id',
  'created_at',
  'layout',
  'model',
  'characters',
  'tokens',
  'place',
  'message_ids',
] as const;

/** What a row tells without its texts. Throws StoreError `store-damaged`. */
export function summaryOf(
  row: Pick<Selectable<TurnPromptTable>, (typeof SUMMARY)[number]>,
): PromptSummary {
  return {
    turnId: row.turn_id,
    conversationId: row.conversation_id,
    at: row.created_at,
    layout: row.layout,
    model: row.model,
    characters: row.characters,
    tokens: row.tokens,
    place: fromCheckedJson(PromptPlace, row.place, 'place of a prompt'),
    messageIds: fromCheckedJson(PromptLists.names, row.message_ids, 'message ids of a prompt'),
  };
}

/** The hashes of a row's parts, each once. Throws StoreError `store-damaged`. */
export function hashesOf(row: Pick<Selectable<TurnPromptTable>, 'parts'>): readonly string[] {
  const parts = fromCheckedJson(PromptLists.parts, row.parts, 'parts of a prompt');
  return [...new Set(parts.map(({ hash }) => hash))];
}

/** The whole prompt of a row. `textOf` gives the text of a hash. Throws StoreError `store-damaged`. */
export function promptOf(
  row: Selectable<TurnPromptTable>,
  textOf: (hash: string) => string,
): StoredPrompt {
  const parts = fromCheckedJson(PromptLists.parts, row.parts, 'parts of a prompt');
  return {
    ...summaryOf(row),
    parts: parts.map(({ hash, ...part }) => ({ ...part, text: textOf(hash) })),
    unsent: fromCheckedJson(PromptLists.unsent, row.unsent, 'layers left out of a prompt'),
    tools: fromCheckedJson(PromptLists.names, row.tools, 'tools of a prompt'),
    messages: fromCheckedJson(PromptLists.messages, row.messages, 'messages of a prompt'),
  };
}

/** A text of a prompt under its hash, once for all turns that used it; the content is JSON. */
export interface PromptTextTable {
  hash: string;
  content: string;
  used_at: number;
}

/** The prompt of a turn; the columns from `place` on are JSON, the parts refer to texts by hash. */
export interface TurnPromptTable {
  turn_id: string;
  conversation_id: string;
  chat_id: string;
  created_at: number;
  layout: string;
  model: string;
  characters: number;
  tokens: number;
  place: string;
  message_ids: string;
  parts: string;
  unsent: string;
  tools: string;
  messages: string;
}
