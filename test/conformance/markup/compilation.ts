import type { Expected } from './expected.ts';
import type { Manner } from './manner.ts';
import type { Place, StepWriter } from './step-writer.ts';

/** What every part of the compilation needs. */
export interface Compilation {
  readonly writer: StepWriter;
  readonly manner: Manner;
  /** Writes the steps that read this content. */
  readonly all: (content: readonly Expected[], place: Place, to: Compilation) => void;
}

/** What may be left out where there is hardly room for text. */
export function unlessTight({ manner, writer }: Compilation, content: () => void): void {
  if (manner.roomy) content();
  else writer.optional(content);
}
