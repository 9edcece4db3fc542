import type { SentPart, SentPrompt } from '@parley/core';
import { estimateTokens } from '@parley/workspace';
import { compareTexts, diffSequence, type SequenceStep, type TextPiece } from './compare-texts.ts';

/** The size of a piece of a prompt. Bytes are counted in UTF-8; tokens are estimated. */
export interface PromptSize {
  readonly characters: number;
  readonly bytes: number;
  readonly tokens: number;
}

/** The change of one part between two prompts. */
export interface PartComparison {
  readonly layer: string;
  readonly placement: SentPart['placement'];
  readonly change: 'same' | 'changed' | 'added' | 'removed';
  readonly pieces: readonly TextPiece[];
  /** How many characters of the part are in the prefix shared by both prompts. */
  readonly shared: number;
}

export interface PromptComparison {
  readonly before: PromptSize;
  readonly after: PromptSize;
  /**
   * The prefix that is identical byte for byte (P09), in the order used by providers: tool
   * definitions, system prompt, user message. The prefix extends into a later kind of content only
   * if the earlier kinds are identical. In a provider's cache, the history precedes the user
   * message.
   */
  readonly prefix: PromptSize;
  /** The share of the second prompt covered by the prefix, from 0 to 1; 1 for an empty prompt. */
  readonly share: number;
  readonly parts: readonly PartComparison[];
}

/** Separates parts, because every provider receives them as one text. */
const SEPARATOR = '\n\n';

type ComparablePrompt = Pick<SentPrompt, 'parts'>;

/** Compares the requests of two turns, without the conversation history. */
export function comparePrompts(
  before: ComparablePrompt,
  after: ComparablePrompt,
): PromptComparison {
  const [tools, otherTools] = [getPlacementText(before, 'tools'), getPlacementText(after, 'tools')];
  const [system, otherSystem] = [
    getPlacementText(before, 'system'),
    getPlacementText(after, 'system'),
  ];
  const [user, otherUser] = [getPlacementText(before, 'user'), getPlacementText(after, 'user')];
  const inTools = findSharedPrefix(tools, otherTools);
  const inSystem = tools === otherTools ? findSharedPrefix(system, otherSystem) : 0;
  const throughout = tools === otherTools && system === otherSystem;
  const shared = {
    tools: inTools,
    system: inSystem,
    user: throughout ? findSharedPrefix(user, otherUser) : 0,
  };
  const prefix = measureText(
    otherTools.slice(0, shared.tools),
    otherSystem.slice(0, shared.system),
    otherUser.slice(0, shared.user),
  );
  const size = measureText(otherTools, otherSystem, otherUser);
  const steps = diffSequence(
    before.parts,
    after.parts,
    (part) => `${part.placement} ${part.layer}`,
  );
  return {
    before: measureText(tools, system, user),
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
  const begins = {
    removed: { tools: 0, system: 0, user: 0 },
    added: { tools: 0, system: 0, user: 0 },
  };
  return steps.map((step): PartComparison => {
    const part = step.kind === 'removed' ? step.before : step.after;
    const { layer, placement } = part;
    const begin = begins[step.kind === 'removed' ? 'removed' : 'added'][placement];
    if (step.kind !== 'added') begins.removed[placement] += getPartLength(step.before);
    if (step.kind !== 'removed') begins.added[placement] += getPartLength(step.after);
    const within = Math.min(part.text.length, Math.max(0, shared[placement] - begin));
    return { layer, placement, ...compareStep(step), shared: within };
  });
}

function compareStep(step: SequenceStep<SentPart>): Pick<PartComparison, 'change' | 'pieces'> {
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

function getPartLength({ text }: SentPart): number {
  return text.length + SEPARATOR.length;
}

function getPlacementText({ parts }: ComparablePrompt, placement: SentPart['placement']): string {
  return parts
    .filter((part) => part.placement === placement)
    .map(({ text }) => text)
    .join(SEPARATOR);
}

function measureText(...texts: readonly string[]): PromptSize {
  const text = texts.join('');
  return {
    characters: text.length,
    bytes: new TextEncoder().encode(text).length,
    tokens: estimateTokens(text),
  };
}

/**
 * The length of the prefix shared by two texts, in characters. The prefix never splits a surrogate
 * pair.
 */
export function findSharedPrefix(before: string, after: string): number {
  const most = Math.min(before.length, after.length);
  let shared = 0;
  while (shared < most && before.charCodeAt(shared) === after.charCodeAt(shared)) shared += 1;
  const last = before.charCodeAt(shared - 1);
  const splits = shared < Math.max(before.length, after.length) && last >= 0xd800 && last <= 0xdbff;
  return splits ? shared - 1 : shared;
}
