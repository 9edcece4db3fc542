import type { InboundMessage, Reader, RenderTarget, RuntimeFacts } from '@parley/contracts';
import type { SkillSnapshot, WorkspaceView } from '@parley/workspace';
import type { Identity } from './identity.ts';
import type { PromptFeatures } from './prompt-features.ts';

/** One thing that somebody said in a group without addressing the agent; every word is untrusted. */
export interface OverheardWords {
  readonly senderId: string;
  readonly senderName: string;
  readonly text: string;
}

/**
 * How much of a layout a turn gets (P07). `minimal`: for sub-agents, without memory, identity and
 * messaging. `none`: the identity line and safety alone.
 */
export type PromptMode = 'full' | 'minimal' | 'none';

/**
 * Keeps a value for the rest of a session: the first caller decides, later ones get what was kept.
 * What must not change within a session (P05, P14, S07) asks here before it is said. The value must
 * survive JSON; `schema` checks what comes back.
 */
export type FixForSession = <Value>(
  key: string,
  value: Value,
  schema: { parse(kept: unknown): Value },
) => Promise<Value>;

/** Everything the layers of one turn may draw on. Files come through `view` and no other way. */
export interface PromptContext extends PromptFeatures {
  readonly facts: RuntimeFacts;
  readonly reader: Reader;
  /** The workspace as `reader` sees it; a view for somebody else is refused. */
  readonly view: WorkspaceView;
  readonly identity: Identity;
  /** `full` when absent. */
  readonly mode?: PromptMode;
  /** The files that tell who the agent is and how it works stay out (P04). */
  readonly skipContextFiles?: boolean;
  /** The messages this turn answers, oldest first. What is in them was written by chat users. */
  readonly messages: readonly InboundMessage[];
  /** What others said in the group since its last turn, oldest first. */
  readonly overheard?: readonly OverheardWords[];
  /** How the chat shows text; absent where nobody reads the answer. */
  readonly target?: RenderTarget;
  /** The skills this session knows; fixed for the session (S07). */
  readonly skills?: SkillSnapshot;
  /** Without one nothing is fixed: a prompt that belongs to no session. */
  readonly fix?: FixForSession;
  /** The operator's home folder, written `~` in the prompt. */
  readonly home?: string;
}
