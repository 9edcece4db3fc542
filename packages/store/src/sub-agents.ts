import type { Lease, TurnCommit } from './rows.ts';

/** What a sub-agent's lane is called; no chat ever has such a name, since theirs begin with a channel. */
export const SUB_AGENT_LANE = 'sub:';

/** A task on its way to a sub-agent (G07). */
export interface SubAgentOrder {
  /** Unique; names the run and its lane. */
  readonly id: string;
  /** The call that asks for it: the same call again finds the run that it started. */
  readonly callId: string;
  /** The turn that asks; it must still be running. */
  readonly turnId: string;
  /** For people, a few words. */
  readonly title: string;
  readonly task: string;
  /** For whom the asking turn runs: its sub-agent never runs for anybody who may see more. */
  readonly reader: SubAgentRun['reader'];
  /** What the sub-agent's first turn is told, besides its task. */
  readonly words: string;
}

/** How many, and how deep. */
export interface SubAgentBounds {
  /** 1: sub-agents may not delegate. */
  readonly depth: number;
  /** Running at a time in one conversation with people, all depths together. */
  readonly atOnce: number;
}

/** One sub-agent, running or over. Times in ms. */
export interface SubAgentRun {
  readonly id: string;
  /** Its lane. */
  readonly conversationId: string;
  /** Where its completion goes: a conversation with people, or the lane of another sub-agent. */
  readonly parentConversation: string;
  /** The conversation with people that all this is done for. */
  readonly rootConversation: string;
  readonly parentTurn: string;
  /** 1 for those that a turn with people has started. */
  readonly depth: number;
  readonly title: string;
  readonly task: string;
  readonly reader: 'owner' | 'guest';
  readonly state: 'running' | 'done' | 'failed' | 'stopped';
  /** What it came to, in its own words or in those of the failure; null while it runs. */
  readonly result: string | null;
  /** Of all its turns together. */
  readonly steps: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; null when the price of a step is not known. */
  readonly costUsd: number | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
}

/** How a turn of a sub-agent ends. It never has parts: nothing is sent from it. */
export interface SubAgentTurn {
  readonly commit: TurnCommit;
  /** Times the model was asked in it. */
  readonly steps: number;
  readonly state: 'done' | 'failed';
  readonly result: string;
  /** What the parent is told, and under which id: once. */
  readonly words: string;
}

/** Sub-agents: what they were asked, and what came of it. Their turns are ordinary turns of their own lanes. */
export interface SubAgentRepository {
  /**
   * Starts a run: its row and the message that begins its first turn, in one transaction. `over`: the
   * asking turn was stopped, or its session has ended.
   */
  start(
    order: SubAgentOrder,
    bounds: SubAgentBounds,
    now: number,
  ): Promise<
    | { readonly kind: 'started'; readonly conversationId: string }
    | { readonly kind: 'too-deep' | 'too-many' | 'over' }
  >;
  /** The run of a lane; null when it is no sub-agent's. */
  of(conversationId: string): Promise<SubAgentRun | null>;
  /**
   * Commits a turn of a sub-agent. Unless sub-agents of its own still run (then it goes on when they
   * are done), its run ends, and its completion waits in the inbox of its parent: all in one fenced
   * transaction, so it is told once. `wake`: the lane that has work now.
   */
  commit(
    lease: Lease,
    turn: SubAgentTurn,
    now: number,
  ): Promise<
    | { readonly kind: 'fenced' }
    | { readonly kind: 'goes-on' }
    | { readonly kind: 'over'; readonly wake: string }
  >;
}
