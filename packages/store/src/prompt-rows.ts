import { hash } from 'node:crypto';
import {
  type MessageSize,
  PromptLists,
  type PromptMessage,
  PromptTarget,
  rememberTexts,
  requestSizes,
  type SentPrompt,
  type SentRequest,
} from '@parley/core';
import type { StepAside } from './asides.ts';
import { fromCheckedJson, toJson } from './database.ts';

/** The facts of a prompt without its texts. Sizes are those of the whole request; tokens are estimates. */
export interface PromptSummary {
  readonly turnId: string;
  readonly conversationId: string;
  readonly at: number;
  readonly layout: string;
  /** `provider/model` as it was known before the call. */
  readonly model: string;
  readonly characters: number;
  readonly tokens: number;
  readonly place: PromptTarget;
  /** The platform's ids of the messages that the turn answered. */
  readonly messageIds: readonly string[];
  /** For several agents: the one that answers and the rule (F14), as text. */
  readonly answeredBy?: string;
}

/** The whole prompt of a turn. */
export interface StoredPrompt extends PromptSummary, SentRequest {
  readonly messages: readonly PromptMessage[];
  /** The model's text besides its answer, by steps of the turn. */
  readonly asides: readonly StepAside[];
}

/** The record of a turn's prompt; totals and hashes are made here. */
export interface NewPrompt
  extends Omit<PromptSummary, 'characters' | 'tokens' | 'answeredBy'>,
    SentPrompt,
    Pick<SentRequest, 'tools'> {
  readonly messages: readonly (Omit<MessageSize, 'characters'> & { readonly content: string })[];
}

/** A text and what it is known by; `content` is JSON, in which every character survives. */
export interface HashedText {
  readonly hash: string;
  readonly content: string;
}

/** Texts whose hash is remembered, in characters of all together. */
const REMEMBERED = 600_000;

/** Makes the function that puts a text under its hash; most texts are in many prompts. */
export function textHashes() {
  return rememberTexts(hashText, REMEMBERED);
}

/** A text under its hash. */
export function hashText(text: string): HashedText {
  const content = toJson(text);
  return { hash: hash('sha256', content, 'base64url'), content };
}

type Part = NewPrompt['parts'][number];

/** Makes the function that writes a part without its text; most parts are the same object in many prompts. */
export function partsJson(hashOf: (text: string) => HashedText) {
  const known = new WeakMap<Part, string>();
  return (part: Part): string => {
    const json =
      known.get(part) ??
      // JSON leaves out what is undefined.
      toJson({ ...part, text: undefined, hash: hashOf(part.text).hash });
    known.set(part, json);
    return json;
  };
}

/** The row of a prompt. */
export function toPromptRow(
  prompt: NewPrompt,
  hashOf: (text: string) => HashedText,
  jsonOf: (part: Part) => string,
): PromptRow & { readonly chatId: string } {
  const { parts, place } = prompt;
  const messages = prompt.messages.map(({ content, ...size }) => ({
    ...size,
    characters: content.length,
  }));
  const { characters, tokens } = requestSizes(parts, messages);
  return {
    turnId: prompt.turnId,
    conversationId: prompt.conversationId,
    chatId: place.chatId,
    at: prompt.at,
    layout: prompt.layout,
    model: prompt.model,
    characters,
    tokens,
    place: toJson(place),
    messageIds: toJson(prompt.messageIds),
    parts: `[${parts.map(jsonOf).join(',')}]`,
    unsent: toJson(prompt.unsent),
    tools: toJson(prompt.tools),
    messages: messagesJson(prompt.messages, hashOf),
  };
}

/** Characters of a message's hash, 128 bits: it says whether two are the same, no text is found by it. */
const MESSAGE_HASH = 22;

/** As text at once, since it is the longest list of the row: neither a role nor a hash needs escaping. */
function messagesJson(
  messages: NewPrompt['messages'],
  hashOf: (text: string) => HashedText,
): string {
  let json = '';
  for (const { role, content, tokens } of messages) {
    const { hash } = hashOf(content);
    const comma = json === '' ? '' : ',';
    json += `${comma}["${role}",${content.length},"${hash.slice(0, MESSAGE_HASH)}",${tokens}]`;
  }
  return `[${json}]`;
}

/** The columns that make a `SummaryRow`. */
export const SUMMARY_COLUMNS = `turn_id as "turnId", conversation_id as "conversationId",
  created_at as at, layout, model, characters, tokens, place, message_ids as "messageIds",
  (select reason from inbox where inbox.turn_id = turn_prompt.turn_id order by seq desc limit 1) as reason`;

/** The facts of a prompt without its texts; `place` and `messageIds` are JSON. */
export interface SummaryRow extends Omit<PromptSummary, 'place' | 'messageIds' | 'answeredBy'> {
  readonly place: string;
  readonly messageIds: string;
  /** The reason for the newest message: access, activation and, for several agents, the chosen one. */
  readonly reason?: string | null;
}

/** The prompt of a turn; the columns of this type are JSON, the parts refer to texts by hash. */
export interface PromptRow extends SummaryRow {
  readonly parts: string;
  readonly unsent: string;
  readonly tools: string;
  readonly messages: string;
}

/** The facts of a prompt without its texts. Throws StoreError `store-damaged`. */
export function toPromptSummary({ reason, ...row }: SummaryRow): PromptSummary {
  const agent = reason?.split('; ')[2];
  return {
    ...row,
    ...(agent !== undefined && { answeredBy: agent }),
    place: fromCheckedJson(PromptTarget, row.place, 'place of a prompt'),
    messageIds: fromCheckedJson(PromptLists.names, row.messageIds, 'message ids of a prompt'),
  };
}

/** The hashes of a row's parts, each once. Throws StoreError `store-damaged`. */
export function hashesOf(row: Pick<PromptRow, 'parts'>): readonly string[] {
  const parts = fromCheckedJson(PromptLists.parts, row.parts, 'parts of a prompt');
  return [...new Set(parts.map(({ hash }) => hash))];
}

/** The whole prompt of a row. `textOf` gives the text of a hash. Throws StoreError `store-damaged`. */
export function toStoredPrompt(
  row: PromptRow,
  textOf: (hash: string) => string,
): Omit<StoredPrompt, 'asides'> {
  const parts = fromCheckedJson(PromptLists.parts, row.parts, 'parts of a prompt').map(
    ({ hash, ...part }) => ({ ...part, text: textOf(hash) }),
  );
  const messages = fromCheckedJson(PromptLists.messages, row.messages, 'messages of a prompt').map(
    ([role, characters, hash, tokens = 0]) => ({ role, characters, tokens, hash }),
  );
  return {
    ...toPromptSummary(row),
    ...requestSizes(parts, messages),
    parts,
    unsent: fromCheckedJson(PromptLists.unsent, row.unsent, 'layers left out of a prompt'),
    tools: fromCheckedJson(PromptLists.names, row.tools, 'tools of a prompt'),
    messages,
  };
}
