import type { ExpectedItem } from './expected.ts';
import type { DialectManner } from './manner.ts';
import type { CharacterContext, StepWriter } from './step-writer.ts';

/** The context shared by every part of the compilation. */
export interface Compilation {
  readonly writer: StepWriter;
  readonly manner: DialectManner;
  /** Writes the steps that read this content. */
  readonly all: (
    content: readonly ExpectedItem[],
    place: CharacterContext,
    to: Compilation,
  ) => void;
}

/** Content that may be left out if there is hardly any space for text. */
export function emitUnlessTight({ manner, writer }: Compilation, content: () => void): void {
  if (manner.roomy) content();
  else writer.optional(content);
}
