import { mayRead, type PromptPart, type Reader } from '@parley/contracts';

/** The parts a reader may see, and those that must not reach the model. */
export interface EnforcedParts<Part extends PromptPart> {
  readonly allowed: readonly Part[];
  readonly withheld: readonly Part[];
}

/**
 * The last check before a model call (W02): run it again after anything that could have added or
 * changed parts. Withheld parts are a defect of whoever made them; the person still gets an answer.
 */
export function enforceAudience<Part extends PromptPart>(
  reader: Reader,
  parts: readonly Part[],
): EnforcedParts<Part> {
  return {
    allowed: parts.filter((part) => mayRead(reader, part.audience)),
    withheld: parts.filter((part) => !mayRead(reader, part.audience)),
  };
}
