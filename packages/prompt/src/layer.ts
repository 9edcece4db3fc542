import type { PromptPart, Reader } from '@parley/core';
import type { Cut, FilePattern } from '@parley/workspace';
import type { PromptContext, PromptMode } from './context.ts';

/** Kebab-case name of a layer, the same in layouts, reports and logs. */
export type LayerId = string;

/**
 * How often a layer's text changes. `static`: the same in every chat until settings are edited
 * or files. `session`: the same throughout one chat. `turn`: may differ in every turn.
 */
export type Volatility = 'static' | 'session' | 'turn';

/** `system`: instructions. `user`: data, placed before the person's own text (P05, P18). */
export type Placement = 'system' | 'user';

/** What a layer says this turn. */
export interface LayerPart extends PromptPart {
  /** Set where the text is not the whole (P10). */
  readonly cut?: Cut | null;
}

/** A layer with nothing to say (P02). The reason is for people and holds nothing private. */
export interface Absent {
  readonly absent: string;
}

/** What a layout may decide about one of its layers. A layer heeds what makes sense for it. */
export interface LayerOptions {
  /** The line above the text, with its marks (`## Tooling`), in place of the layer's own. */
  readonly heading?: string;
  /** Files of the workspace that the layer shows, in this order. */
  readonly files?: readonly string[];
  /** Longest text taken from one file, in characters. */
  readonly characters?: number;
  /** Longest text taken from all files of the layer together, in characters. */
  readonly charactersInAll?: number;
}

/** One named layer of the prompt. Holds no state: what it says depends on the context alone. */
export interface Layer {
  readonly id: LayerId;
  readonly volatility: Volatility;
  readonly placement: Placement;
  /** The prompt modes it is in (P07); only `full` where it does not say. */
  readonly modes?: readonly PromptMode[];
  /**
   * The workspace files it reads, besides those that the layout names for it (`LayerOptions.files`). A
   * read of any other file gets nothing; what is declared is changed by an agent only with an approval.
   */
  readonly reads?: readonly FilePattern[];
  render(
    context: PromptContext,
    options: LayerOptions,
  ): LayerPart | Absent | Promise<LayerPart | Absent>;
}

/** What a layer gave: text, nothing, or an error. */
export type LayerOutput = LayerPart | Absent | { readonly failed: unknown };

/** The output of a layer in one turn. */
export interface Rendering {
  readonly layer: LayerId;
  readonly placement: Placement;
  /** May be different in the next turn. */
  readonly changes: boolean;
  readonly output: LayerOutput;
}

/** Says that a layer has nothing to say, and why. */
export function absent(reason: string): Absent {
  return { absent: reason };
}

/** A text that anyone may read. */
export function forEveryone(text: string, source = 'Parley'): LayerPart {
  return { text, source, audience: { kind: 'everyone' } };
}

/** A text of this chat: of its people, its message, what is connected to it. */
export function forChat({ conversationId }: Reader, text: string, source: string): LayerPart {
  return { text, source, audience: { kind: 'conversation', conversationId } };
}
