import type { LayerId, LayerOptions } from './layer.ts';

/** One line of a layout: a layer, and how this house wants it. */
export interface LayoutEntry extends LayerOptions {
  readonly layer: LayerId;
  /** Moves what is otherwise a layer of the system prompt before the person's words. */
  readonly placement?: 'user';
}

/** The order of a prompt, as plain data (P01). Safety and the ephemeral prompt are in it anyway. */
export interface Layout {
  readonly name: string;
  readonly layers: readonly LayoutEntry[];
  /**
   * The system prompt stays what it was in the first turn of the session, byte for byte (P05); what
   * plugins add goes before the person's words instead.
   */
  readonly fixedSystem?: boolean;
  /** Lines around everything that stands before the person's words, and what they mean. */
  readonly userFence?: { readonly open: string; readonly note: string; readonly close: string };
}
