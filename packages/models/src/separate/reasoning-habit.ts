/** Where a model's answers start: in their text, within reasoning, or unknown. */
export type AnswerStart = 'text' | 'inside' | 'unknown';

/** Tracks whether the answers of one model start within reasoning. */
export interface ReasoningStartTracker {
  start(): AnswerStart;
  /** Updates the expectation from a complete answer. */
  learn(seen: 'began-inside' | 'began-outside'): void;
}

/**
 * After an answer that started within reasoning, the same is expected for this many answers,
 * because models may reason only occasionally.
 */
const EXPECTED = 3;

/** Models whose usual chat template opens the reasoning before they start to write. */
const BEGIN_INSIDE =
  /(?:^|[^a-z])(?:r1|qwq|z1|thinking|reasoner|reasoning|minimax-m\d|nemotron|phi-4-mini-reasoning)(?:[^a-z]|$)/i;

/**
 * A chat template may open the reasoning itself, so that only the end marker shows that the text
 * before it was reasoning. A model's name is a first hint, and its answers confirm or refute it.
 * While an answer is expected to start within reasoning, its text is held back until the reasoning
 * ends, which costs time but never loses an answer.
 */
export function createReasoningStartTracker(model: string): ReasoningStartTracker {
  let expected = BEGIN_INSIDE.test(model) ? 1 : 0;
  let isKnown = false;
  return {
    start: () => (expected > 0 ? 'inside' : isKnown ? 'text' : 'unknown'),
    learn(seen) {
      isKnown = true;
      expected = seen === 'began-inside' ? EXPECTED : Math.max(0, expected - 1);
    },
  };
}

/** Typical first words of reasoning, which is not addressed to anyone. */
const MUSINGS = [
  'okay',
  'ok, ',
  'ok so',
  'alright',
  'hmm',
  'wait',
  'let me',
  "let's",
  'let us',
  'we need',
  'we have to',
  'we are asked',
  'i need to',
  'i should',
  'i have to',
  'the user',
  'the person',
  'the human',
  'they want',
  'they ask',
  'they are',
  'they greet',
  'they say',
  'user asks',
  'user wants',
  'user says',
  'first, i',
  'first, let',
  'so the',
  'so, the',
  'so i',
  'now i',
  'now, i',
  'thinking',
  'got it',
  'looking at',
  '嗯',
  '好的，',
  '好，',
  '用户',
  '首先',
  '我需要',
  '让我',
  '我们需要',
];

/**
 * Whether the start of the text sounds like reasoning; null while the text is too short to decide.
 */
export function resemblesReasoning(text: string): boolean | null {
  const start = text.trimStart().toLowerCase().replaceAll('’', "'");
  if (MUSINGS.some((words) => start.startsWith(words))) return true;
  return MUSINGS.some((words) => words.startsWith(start)) ? null : false;
}
