import type { Attachment } from '@parley/contracts';
import type { ColumnType, Generated } from 'kysely';
import type { ApprovalState } from './approvals.ts';
import type { StoredAttachment } from './attachments.ts';
import type { Decision } from './decisions.ts';
import type { ConversationMode } from './modes.ts';
import type { PartState } from './outbox.ts';
import type { TranscriptEntry, TurnCommit } from './rows.ts';
import type { SubAgentRun } from './sub-agents.ts';

/** A number the database gives: the order of storing. Never written. */
type Seq = ColumnType<number, never, never>;

/** One chat as a lane: fencing epoch, `/new` counter and the lease of the worker on it. */
export interface ConversationTable {
  id: string;
  epoch: Generated<number>;
  session: Generated<number>;
  lease_owner: Generated<string | null>;
  lease_until: Generated<number | null>;
  mode: Generated<ConversationMode>;
  /** When the mode was last changed. */
  mode_since: Generated<number>;
  created_at: number;
}

/** How a message ended: by its turn, by `/stop`, by its author, or because it was a command. */
export type InboxOutcome = TurnCommit['outcome'] | 'stopped' | 'withdrawn' | 'command';

/** Inbound messages; `message` and `route` are JSON. */
export interface InboxTable {
  seq: Seq;
  conversation_id: string;
  channel: string;
  account: string;
  chat_id: string;
  message_id: string;
  message: string;
  route: string;
  received_at: number;
  state: 'waiting' | 'claimed' | 'done';
  turn_id: Generated<string | null>;
  outcome: Generated<InboxOutcome | null>;
  /** 1: an owner wrote it in a direct chat. */
  from_owner: Generated<number>;
  /** Why ingress took it. */
  reason: Generated<string | null>;
  /** When its burst is over and a turn may take it; null: at once. */
  settles_at: Generated<number | null>;
}

/** What came with a message; `bytes` is null until it is fetched, and again when it is old. */
export interface AttachmentTable {
  inbox_seq: number;
  attachment_index: number;
  channel: string;
  account: string;
  kind: Attachment['kind'];
  name: string | null;
  mime_type: string | null;
  /** In bytes: as the platform claims, and as it is once it is `ready`. */
  size: number | null;
  ref: string;
  state: StoredAttachment['state'];
  reason: Generated<string | null>;
  attempts: Generated<number>;
  not_before: number;
  text: Generated<string | null>;
  created_at: number;
  updated_at: number;
  bytes: Generated<Uint8Array | null>;
}

/** Turns; at most one per conversation is `running`, and the database enforces it. */
export interface TurnTable {
  id: string;
  conversation_id: string;
  session: number;
  state: 'running' | 'stopped' | TurnCommit['outcome'];
  /** How often the turn was begun. */
  attempts: number;
  /** Code of the approval it waits for; until then nobody claims it. */
  awaits: Generated<string | null>;
  reason: Generated<string | null>;
  model: Generated<string | null>;
  input_tokens: Generated<number | null>;
  output_tokens: Generated<number | null>;
  cost_usd: Generated<number | null>;
  started_at: number;
  finished_at: Generated<number | null>;
}

/** Questions whether a tool may be called, and what became of them; `approvers` has one per line. */
export interface ApprovalTable {
  seq: Seq;
  code: string;
  conversation_id: string;
  turn_id: string;
  call_key: string;
  tool: string;
  shown: string;
  asked_by: string;
  place: string;
  approvers: string;
  state: ApprovalState;
  asked_at: number;
  expires_at: number;
  decided_by: Generated<string | null>;
  decided_at: Generated<number | null>;
  result: Generated<'done' | 'failed' | null>;
}

/** The turn journal; `content` is JSON. */
export interface TurnStepTable {
  turn_id: string;
  step_index: number;
  content: string;
  created_at: number;
}

/** The model's history; `content` is JSON. */
export interface TranscriptTable {
  seq: Seq;
  conversation_id: string;
  session: number;
  turn_id: string;
  role: TranscriptEntry['role'];
  content: string;
  created_at: number;
}

/** Outbound parts; `route` and `body` are JSON, the chat's columns repeat the route for the index. */
export interface OutboxTable {
  seq: Seq;
  id: string;
  idempotency_key: string;
  turn_id: string | null;
  part_index: number | null;
  /** The part whose fate this one tells. */
  notice_of: string | null;
  channel: string;
  account: string;
  chat_id: string;
  route: string;
  body: string;
  state: PartState;
  attempts: Generated<number>;
  not_before: number;
  error: Generated<string | null>;
  platform_message_id: Generated<string | null>;
  created_at: number;
  updated_at: number;
}

/** What adapters remember; `value` is theirs to understand. */
export interface AdapterValueTable {
  channel: string;
  account: string;
  kind: string;
  id: string;
  value: string;
}

/** What groups said without addressing the bot; `turn_id` is null until a turn takes it. */
export interface OverheardTable {
  seq: Seq;
  conversation_id: string;
  channel: string;
  account: string;
  chat_id: string;
  message_id: string;
  sender_id: string;
  sender_name: string;
  text: string;
  heard_at: number;
  turn_id: Generated<string | null>;
}

/** Strangers who wait to be let in; `route` is JSON. */
export interface PairingRequestTable {
  code: string;
  channel: string;
  account: string;
  sender_id: string;
  sender_name: string;
  route: string;
  expires_at: number;
}

/** Strangers who were let in for good. */
export interface LetInTable {
  channel: string;
  account: string;
  sender_id: string;
  let_in_at: number;
}

/** Messages that were not taken, and why; never their text. */
export interface DecisionTable {
  seq: Seq;
  channel: string;
  account: string;
  chat_id: string;
  message_id: string;
  sender_id: string;
  outcome: Decision['outcome'];
  reason: string;
  decided_at: number;
}

/** Accounts of one person; those with the same `link_id` belong together. */
export interface PersonLinkTable {
  person_id: string;
  link_id: string;
  /** 1: an owner confirmed it, so its members may do what an owner may. */
  by_owner: number;
  linked_at: number;
}

/** Codes of `/link` that are still valid; the routes are JSON, the typist is null until somebody typed it. */
export interface LinkCodeTable {
  code: string;
  maker_id: string;
  maker_route: string;
  maker_is_owner: number;
  typist_id: Generated<string | null>;
  typist_route: Generated<string | null>;
  expires_at: number;
}

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

/** Where memories stand; their words are in the files. */
export interface MemoryEntryTable {
  file: string;
  id: string;
  type: string;
  scope: string;
  person: string | null;
  words: string;
  saved_on: string | null;
  channel: string | null;
  chat_id: string | null;
  message_id: string | null;
  uses: number;
}

/** Summaries of conversations; the content is JSON, null while somebody writes it. */
export interface SummaryTable {
  seq: Seq;
  conversation_id: string;
  session: number;
  reader: string;
  kind: 'history' | 'day';
  mark: string;
  reaches: Generated<number | null>;
  content: Generated<string | null>;
  claimed_by: string | null;
  claimed_until: number;
  created_at: number;
}

/** Sub-agents; `origin` and `route` are JSON: the message they work for, and where it is answered. */
export interface SubAgentTable {
  id: string;
  call_id: string;
  conversation_id: string;
  parent_conversation: string;
  root_conversation: string;
  parent_turn: string;
  depth: number;
  title: string;
  task: string;
  reader: SubAgentRun['reader'];
  origin: string;
  route: string;
  from_owner: number;
  state: SubAgentRun['state'];
  result: Generated<string | null>;
  steps: Generated<number>;
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  cost_usd: Generated<number | null>;
  started_at: number;
  finished_at: Generated<number | null>;
}

/** What models were used for; `group_id` is empty for direct chats. */
export interface SpendTable {
  day: string;
  person_id: string;
  group_id: string;
  input_tokens: number;
  output_tokens: number;
  /** US dollars, as far as prices are known. */
  cost_usd: number;
}

/** The list of a conversation's newest session with one; the content is JSON. */
export interface TodoListTable {
  conversation_id: string;
  session: number;
  content: string;
  written_at: number;
}

/** Which migrations a database has seen, and by which Parley. */
export interface MigrationTable {
  number: number;
  name: string;
  parley_version: string;
  applied_at: number;
}

/** All tables, for Kysely. Times are ms since 1970. */
export interface Tables {
  conversation: ConversationTable;
  inbox: InboxTable;
  attachment: AttachmentTable;
  turn: TurnTable;
  turn_step: TurnStepTable;
  approval: ApprovalTable;
  transcript: TranscriptTable;
  outbox: OutboxTable;
  adapter_value: AdapterValueTable;
  overheard: OverheardTable;
  pairing_request: PairingRequestTable;
  let_in: LetInTable;
  decision: DecisionTable;
  person_link: PersonLinkTable;
  link_code: LinkCodeTable;
  session_pin: SessionPinTable;
  prompt_text: PromptTextTable;
  turn_prompt: TurnPromptTable;
  memory_entry: MemoryEntryTable;
  summary: SummaryTable;
  sub_agent: SubAgentTable;
  spend: SpendTable;
  todo_list: TodoListTable;
  parley_migration: MigrationTable;
}
