/** What stays the same for a session; the content is JSON. */
export interface SessionPinTable {
  conversation_id: string;
  session: number;
  pin_key: string;
  content: string;
  pinned_at: number;
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

/** The prompts of past turns, and what a session fixes in its prompt. */
export interface PromptTables {
  session_pin: SessionPinTable;
  prompt_text: PromptTextTable;
  turn_prompt: TurnPromptTable;
}
