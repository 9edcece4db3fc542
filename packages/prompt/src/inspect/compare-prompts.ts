import type { SentPart, SentPrompt } from '@parley/contracts';
import { estimateTokens } from '@parley/workspace';
import { compareTexts, sharedPrefix, type TextPiece } from './compare-texts.ts';
import { diffSequence, type SequenceStep } from './diff-sequence.ts';

/** How large a piece of a prompt is. Bytes are those of UTF-8, tokens an estimate. */
export interface PromptSize {
  readonly characters: number;
  readonly bytes: number;
  readonly tokens: number;
}

/** What became of one part from one prompt to the next. */
export interface PartComparison {
  readonly layer: string;
  readonly placement: SentPart['placement'];
  readonly change: 'same' | 'changed' | 'added' | 'removed';
  readonly pieces: readonly TextPiece[];
  /** So many characters of the part belong to the beginning that both prompts share. */
  readonly shared: number;
}

/** Two prompts side by side. */
export interface PromptComparison {
  readonly before: PromptSize;
  readonly after: PromptSize;
  /**
   * The beginning that is the same byte for byte (P09). It goes on into the user message only when the
   * system prompts are the same throughout; a provider's cache has the history between the two.
   */
  readonly prefix: PromptSize;
  /** The share of the second prompt that lies in the prefix, from 0 to 1; 1 for an empty one. */
  readonly share: number;
  readonly parts: readonly PartComparison[];
}

/** Between parts, as every provider gets them in one text. */
const SEPARATOR = '\n\n';

/** Compares what two turns sent to the model before the conversation itself. */
export function comparePrompts(before: SentPrompt, after: SentPrompt): PromptComparison {
  const [system, otherSystem] = [textOf(before, 'system'), textOf(after, 'system')];
  const [user, otherUser] = [textOf(before, 'user'), textOf(after, 'user')];
  const inSystem = sharedPrefix(system, otherSystem);
  const throughout = inSystem === system.length && inSystem === otherSystem.length;
  const shared = { system: inSystem, user: throughout ? sharedPrefix(user, otherUser) : 0 };
  const prefix = sizeOf(otherSystem.slice(0, shared.system), otherUser.slice(0, shared.user));
  const size = sizeOf(otherSystem, otherUser);
  const steps = diffSequence(
    before.parts,
    after.parts,
    (part) => `${part.placement} ${part.layer}`,
  );
  return {
    before: sizeOf(system, user),
    after: size,
    prefix,
    share: size.bytes === 0 ? 1 : prefix.bytes / size.bytes,
    parts: compareParts(steps, shared),
  };
}

function compareParts(
  steps: readonly SequenceStep<SentPart>[],
  shared: Readonly<Record<SentPart['placement'], number>>,
): PartComparison[] {
  const begins = { removed: { system: 0, user: 0 }, added: { system: 0, user: 0 } };
  return steps.map((step): PartComparison => {
    const part = step.kind === 'removed' ? step.before : step.after;
    const { layer, placement } = part;
    const begin = begins[step.kind === 'removed' ? 'removed' : 'added'][placement];
    if (step.kind !== 'added') begins.removed[placement] += lengthOf(step.before);
    if (step.kind !== 'removed') begins.added[placement] += lengthOf(step.after);
    const within = Math.min(part.text.length, Math.max(0, shared[placement] - begin));
    return { layer, placement, ...changeOf(step), shared: within };
  });
}

function changeOf(step: SequenceStep<SentPart>): Pick<PartComparison, 'change' | 'pieces'> {
  switch (step.kind) {
    case 'same': {
      const pieces = compareTexts(step.before.text, step.after.text);
      return { change: step.before.text === step.after.text ? 'same' : 'changed', pieces };
    }
    case 'removed':
      return { change: 'removed', pieces: compareTexts(step.before.text, '') };
    case 'added':
      return { change: 'added', pieces: compareTexts('', step.after.text) };
  }
}

function lengthOf({ text }: SentPart): number {
  return text.length + SEPARATOR.length;
}

function textOf({ parts }: SentPrompt, placement: SentPart['placement']): string {
  return parts
    .filter((part) => part.placement === placement)
    .map(({ text }) => text)
    .join(SEPARATOR);
}

function sizeOf(...texts: readonly string[]): PromptSize {
  const text = texts.join('');
  return {
    characters: text.length,
    bytes: new TextEncoder().encode(text).length,
    tokens: estimateTokens(text),
  };
}
