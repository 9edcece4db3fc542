import type { SentPart, SentPrompt } from '@parley/core';
import { estimateTokens } from '@parley/workspace';

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
 * A piece of two texts: in both, only in the first, or only in the second. A piece consists of
 * whole lines and is never empty.
 */
export interface TextPiece {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/**
 * Compares two texts line by line. Joined in order, `same` and `removed` form the first text, and
 * `same` and `added` the second, character for character.
 */
export function compareTexts(before: string, after: string): readonly TextPiece[] {
  const steps = diffSequence(splitLines(before), splitLines(after), (line) => line);
  const pieces: { kind: TextPiece['kind']; text: string }[] = [];
  for (const step of steps) {
    const text = step.kind === 'added' ? step.after : step.before;
    const last = pieces.at(-1);
    if (last?.kind === step.kind) last.text += text;
    else pieces.push({ kind: step.kind, text });
  }
  return pieces;
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

/** Splits text into lines including their line endings, so that joining them restores the text. */
function splitLines(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/**
 * One step from one sequence to another: an item in both, only in the first, or only in the second.
 */
type SequenceStep<Item> =
  | { readonly kind: 'same'; readonly before: Item; readonly after: Item }
  | { readonly kind: 'removed'; readonly before: Item }
  | { readonly kind: 'added'; readonly after: Item };

/** The positions of a shared item in the first and in the second sequence. */
type PositionPair = readonly [number, number];

/**
 * Beyond this number of comparisons (a tenth of a second), the differing middle counts as replaced.
 */
const MAX_COMPARISONS = 4_000_000;

/**
 * The steps from one sequence to another that keep the most items. Joined in order, all `before`s
 * form the first sequence, and all `after`s the second. Removed items precede the items added in
 * their place.
 */
function diffSequence<Item>(
  before: readonly Item[],
  after: readonly Item[],
  keyOf: (item: Item) => string,
): readonly SequenceStep<Item>[] {
  const steps: SequenceStep<Item>[] = [];
  let [i, j] = [0, 0];
  const pairs = findCommonPairs(before.map(keyOf), after.map(keyOf));
  for (const [ofBefore, ofAfter] of [...pairs, [before.length, after.length]]) {
    for (const item of before.slice(i, ofBefore)) steps.push({ kind: 'removed', before: item });
    for (const item of after.slice(j, ofAfter)) steps.push({ kind: 'added', after: item });
    const [same, other] = [before[ofBefore], after[ofAfter]];
    if (same !== undefined && other !== undefined) {
      steps.push({ kind: 'same', before: same, after: other });
    }
    [i, j] = [ofBefore + 1, ofAfter + 1];
  }
  return steps;
}

/** The positions of a longest common subsequence; none if the middle is too large. */
function findCommonPairs(a: readonly string[], b: readonly string[]): readonly PositionPair[] {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < most - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const [endOfA, endOfB] = [a.length - tail, b.length - tail];
  const middle = findLongestCommon(a.slice(head, endOfA), b.slice(head, endOfB));
  return [
    ...Array.from({ length: head }, (_, at): PositionPair => [at, at]),
    ...middle.map(([i, j]): PositionPair => [head + i, head + j]),
    ...Array.from({ length: tail }, (_, at): PositionPair => [endOfA + at, endOfB + at]),
  ];
}

/** Computes the subsequence from a table of lengths for all pairs of suffixes. */
function findLongestCommon(a: readonly string[], b: readonly string[]): readonly PositionPair[] {
  if (a.length * b.length > MAX_COMPARISONS) return [];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const rest = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i] === b[j] ? rest(i + 1, j + 1) + 1 : Math.max(rest(i + 1, j), rest(i, j + 1));
    }
  }
  const pairs: PositionPair[] = [];
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (rest(i + 1, j) >= rest(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}
