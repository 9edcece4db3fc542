import type { Generated } from 'kysely';
import type { BeatState } from '../heartbeats.ts';

/** When each agent’s heart beats next. */
export interface HeartbeatTable {
  agent: string;
  every_ms: number;
  next_at: number;
  last_at: Generated<number | null>;
  last_reason: Generated<string | null>;
}

/** Runs of standing tasks; `entry` and `parts` are JSON and there while an alert is held. */
export interface BeatTable {
  id: string;
  agent: string;
  task: string;
  target: string;
  state: BeatState;
  reason: Generated<string | null>;
  alert: Generated<string | null>;
  fingerprint: Generated<string | null>;
  entry: Generated<string | null>;
  parts: Generated<string | null>;
  held_until: Generated<number | null>;
  turn_id: Generated<string | null>;
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  started_at: number;
  finished_at: Generated<number | null>;
}

/** What the agent does unasked. */
export interface HeartbeatTables {
  heartbeat: HeartbeatTable;
  beat: BeatTable;
}
