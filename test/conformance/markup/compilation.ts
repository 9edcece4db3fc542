import type { Expected } from './expected.ts';
import type { Manner } from './manner.ts';
import type { Place, StepWriter } from './step-writer.ts';

/** The context shared by every part of the compilation. */
export interface Compilation {
  readonly writer: StepWriter;
  readonly manner: Manner;
  /** Writes the steps that read this content. */
  readonly all: (content: readonly Expected[], place: Place, to: Compilation) => void;
}

/** Content that may be left out if there is hardly any space for text. */
export function unlessTight({ manner, writer }: Compilation, content: () => void): void {
  if (manner.roomy) content();
  else writer.optional(content);
}
