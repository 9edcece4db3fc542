/** How freely the agent acts in a conversation (G04). Outlives `/new` and restarts. */
export type ConversationMode = 'agent' | 'ask' | 'plan';

/** What `/mode` found and did. */
export interface ModeChange {
  readonly before: ConversationMode;
  readonly now: ConversationMode;
}

/**
 * What `/run` did. `runs`: the command itself has become the message that runs the plan, and the
 * conversation is in agent mode now. `none`: there is no plan, or something was said since.
 */
export type PlanRun = 'runs' | 'was-run' | 'none';
