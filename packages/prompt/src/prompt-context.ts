import type { InboundMessage, Reader, RenderTarget, RuntimeFacts } from '@parley/contracts';
import type { WorkspaceView } from '@parley/workspace';
import type { Identity } from './identity.ts';

/** One thing that somebody said in a group without addressing the agent; every word is untrusted. */
export interface OverheardWords {
  readonly senderId: string;
  readonly senderName: string;
  readonly text: string;
}

/** Everything the layers of one turn may draw on. Files come through `view` and no other way. */
export interface PromptContext {
  readonly facts: RuntimeFacts;
  readonly reader: Reader;
  /** The workspace as `reader` sees it; a view for somebody else is refused. */
  readonly view: WorkspaceView;
  readonly identity: Identity;
  /** The messages this turn answers, oldest first. What is in them was written by chat users. */
  readonly messages: readonly InboundMessage[];
  /** What others said in the group since its last turn, oldest first. */
  readonly overheard?: readonly OverheardWords[];
  /** How the chat shows text; absent where nobody reads the answer. */
  readonly target?: RenderTarget;
  /** What the agent can and cannot do here, in a sentence or two, written by code. */
  readonly capabilities?: string;
  /** The operator's home folder, written `~` in the prompt. */
  readonly home?: string;
}
