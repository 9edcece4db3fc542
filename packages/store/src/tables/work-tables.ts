import type { Generated } from 'kysely';
import type { ApprovalState } from '../approvals.ts';
import type { SubAgentRun } from '../sub-agents.ts';
import type { Seq } from './seq.ts';

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
  /** The conversation in which it was put; null in rows of older versions. */
  asked_in: Generated<string | null>;
  approvers: string;
  state: ApprovalState;
  asked_at: number;
  expires_at: number;
  decided_by: Generated<string | null>;
  decided_at: Generated<number | null>;
  result: Generated<'done' | 'failed' | null>;
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

/** The list of a conversation's newest session with one; the content is JSON. */
export interface TodoListTable {
  conversation_id: string;
  session: number;
  content: string;
  written_at: number;
}

/** What a turn may wait for or hand on: approvals, sub-agents, to-dos. */
export interface WorkTables {
  approval: ApprovalTable;
  sub_agent: SubAgentTable;
  todo_list: TodoListTable;
}
