import type { Generated } from 'kysely';
import type { ConversationMode } from '../modes.ts';
import type { TranscriptEntry, TurnCommit } from '../rows.ts';
import type { Seq } from './seq.ts';

/** One chat as a lane: fencing epoch, `/new` counter and the lease of the worker on it. */
export interface ConversationTable {
  id: string;
  epoch: Generated<number>;
  session: Generated<number>;
  lease_owner: Generated<string | null>;
  lease_until: Generated<number | null>;
  mode: Generated<ConversationMode>;
  /** The turn whose plan may be run; null when there is none, or something newer was said. */
  plan: Generated<string | null>;
  /** 1: it was run. */
  plan_run: Generated<number>;
  created_at: number;
}

/** Turns; at most one per conversation is `running`, and the database enforces it. */
export interface TurnTable {
  id: string;
  conversation_id: string;
  session: number;
  state: 'running' | 'stopped' | 'interrupted' | TurnCommit['outcome'];
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
  /** JSON: when it was begun each time, and by which worker. */
  runs: Generated<string | null>;
}

/** The turn journal; `content` is JSON. */
export interface TurnStepTable {
  turn_id: string;
  step_index: number;
  content: string;
  created_at: number;
  started_at: Generated<number | null>;
  /** JSON: `StepFacts`. */
  facts: Generated<string | null>;
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

/** Lanes: conversations, their turns, and the journal and history of these. */
export interface LaneTables {
  conversation: ConversationTable;
  turn: TurnTable;
  turn_step: TurnStepTable;
  transcript: TranscriptTable;
}
