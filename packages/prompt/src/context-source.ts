import type { FilePattern } from '@parley/workspace';
import type { PromptContext } from './prompt-context.ts';
import type { PromptFeatures } from './prompt-features.ts';

/** What a source knows of the turn it is asked about. */
export interface TurnAtHand
  extends Pick<PromptContext, 'facts' | 'reader' | 'view' | 'messages' | 'fix'> {
  readonly conversationId: string;
  /** Counts up with each `/new`. */
  readonly session: number;
}

/**
 * Fills in what one feature has to say in a turn. Takes files from `turn.view` alone and passes on
 * their audience. A source that throws is left out and logged; the person still gets an answer.
 */
export interface ContextSource {
  /** Kebab-case, for logs. */
  readonly id: string;
  /** The workspace files it reads; any other file looks absent in `turn.view`. */
  readonly reads?: readonly FilePattern[];
  gather(turn: TurnAtHand): Promise<PromptFeatures & Pick<PromptContext, 'skills'>>;
}
