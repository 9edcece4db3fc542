import type { Audience, PromptPart } from '@parley/contracts';
import type { Cut } from '@parley/workspace';
import type { LayerId, Placement } from './layer.ts';

/** A part of the system prompt. */
export interface SystemPart extends PromptPart {
  readonly layer: LayerId;
  /** Before the cache boundary: nothing up to and including this part changes from turn to turn. */
  readonly stable: boolean;
  /** An estimate. */
  readonly tokens: number;
}

/** Data for the model that stands before the person's own words in the user message. */
export interface UserPart extends PromptPart {
  readonly layer: LayerId;
  /** An estimate. */
  readonly tokens: number;
}

/** What became of one layer, for the inspector (P17). */
export type LayerReport = { readonly layer: LayerId; readonly placement: Placement } & (
  | {
      readonly outcome: 'present';
      readonly source: string;
      readonly audience: Audience;
      readonly characters: number;
      /** An estimate. */
      readonly tokens: number;
      readonly cut: Cut | null;
    }
  | { readonly outcome: 'absent'; readonly reason: string }
  /** The layer offered text this reader may not see. It is not in the prompt. */
  | { readonly outcome: 'withheld'; readonly source: string; readonly audience: Audience }
  /** The layer threw. It is not in the prompt. */
  | { readonly outcome: 'failed'; readonly reason: string }
);

/**
 * A prompt, ready for the model, with an account of how it came about. Parts are in order. Ids of
 * layers are unique within it: each part has exactly one line of the report, which says `present`.
 */
export interface AssembledPrompt {
  readonly layout: string;
  readonly system: readonly SystemPart[];
  readonly userContext: readonly UserPart[];
  readonly report: readonly LayerReport[];
}
