/** Where a model's answers start: in their text, within reasoning, or not known yet. */
export type AnswerStart = 'text' | 'inside' | 'unknown';

/** Remembers whether one model's answers start within reasoning. */
export interface ReasoningHabit {
  start(): AnswerStart;
  /** Updates the expectation from a complete answer. */
  learn(seen: 'began-inside' | 'began-outside'): void;
}

/**
 * The number of answers, after one that started within reasoning, for which the same is expected;
 * models may reason only occasionally.
 */
const EXPECTED = 3;

/** Models whose usual chat template has already opened the reasoning when they start to write. */
const BEGIN_INSIDE =
  /(?:^|[^a-z])(?:r1|qwq|z1|thinking|reasoner|reasoning|minimax-m\d|nemotron|phi-4-mini-reasoning)(?:[^a-z]|$)/i;

/**
 * A chat template may open the reasoning itself; then only the end marker shows that everything
 * before it was reasoning. A model's name is a first hint, and its answers are the proof. While an
 * answer is expected to start within reasoning, its text is held back until that ends, which costs
 * time but never an answer.
 */
export function createReasoningHabit(model: string): ReasoningHabit {
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

/** Openings of reasoning that is not addressed to anyone. */
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

/** Whether the start of a text sounds like reasoning; null while it is too short to tell. */
export function resemblesReasoning(text: string): boolean | null {
  const start = text.trimStart().toLowerCase().replaceAll('’', "'");
  if (MUSINGS.some((words) => start.startsWith(words))) return true;
  return MUSINGS.some((words) => words.startsWith(start)) ? null : false;
}
