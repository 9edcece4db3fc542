import type { InboundMessage, PromptPart, Reader, RuntimeFacts } from '@parley/contracts';
import type { FilePattern, WorkspaceView } from '@parley/workspace';

/** What a hook sees before the model is asked. */
export interface TurnOpening {
  readonly facts: RuntimeFacts;
  readonly reader: Reader;
  readonly view: WorkspaceView;
  /** What the people wrote, as the model will see it. */
  readonly text: string;
  /** The same as it was written, without what came with it. */
  readonly messages?: readonly InboundMessage[];
}

/** What a hook adds to the prompt of this turn. Parts the reader may not see are withheld (W02). */
export interface TurnAdditions {
  /** After the layers of the layout, before the ephemeral prompt. */
  readonly system?: readonly PromptPart[];
  /** Before the person's own words, as data. */
  readonly userContext?: readonly PromptPart[];
}

/** What a hook sees once a turn is committed. */
export interface TurnClosing extends TurnOpening {
  /** The answer in Markdown; empty where the agent stayed silent. */
  readonly answer: string;
  readonly outcome: 'answered' | 'failed';
}

/**
 * Runs before and after each turn (P16). A hook has two seconds; one that throws or takes longer is
 * left out and logged, and the person still gets an answer.
 */
export interface TurnHook {
  /** Kebab-case, for logs. */
  readonly id: string;
  /** The workspace files that `before` reads; any other file looks absent to it. */
  readonly reads?: readonly FilePattern[];
  before?(turn: TurnOpening, signal: AbortSignal): Promise<TurnAdditions>;
  after?(turn: TurnClosing, signal: AbortSignal): Promise<void>;
}
