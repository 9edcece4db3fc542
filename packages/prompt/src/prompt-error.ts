import { ParleyError } from '@parley/core';

/**
 * `layer-*` and `layout-*`: the layers or the layout do not fit together, found when the assembler is
 * made. `format-unreadable`: a note on a channel's format. `prompt-reader`: the view and the turn disagree about who reads, so no prompt is made at all.
 */
export type PromptErrorCode =
  | 'layer-duplicate'
  | 'layer-unknown'
  | 'layer-reserved'
  | 'layout-unknown'
  | 'layout-duplicate'
  | 'format-unreadable'
  | 'prompt-reader';

/** Every error of this package; all of them are mistakes of settings or code, none goes away by itself. */
export class PromptError extends ParleyError {
  constructor(code: PromptErrorCode, message: string) {
    super({ code, message, retryable: false });
  }
}
