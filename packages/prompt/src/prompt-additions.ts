import type { PromptPart } from '@parley/contracts';

/**
 * What hooks say besides the layers of a turn (P16). It stands after them and before the ephemeral
 * prompt; what the reader may not see is withheld like any other part.
 */
export interface PromptAdditions {
  readonly system?: readonly PromptPart[];
  /** Data before the person's own words. */
  readonly userContext?: readonly PromptPart[];
}
