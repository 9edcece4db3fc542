import type { Question, ReplyStretch } from './words.ts';

/** A conversation after the last kill. */
export interface ConversationResult {
  /** The number of questions by sender. */
  readonly asked: ReadonlyMap<number, number>;
  /** The visible pieces of replies, in order. */
  readonly heard: readonly ReplyStretch[];
  /** Pieces of parts that Parley itself reports as uncertain; they may be missing. */
  readonly uncertain: readonly ReplyStretch[];
}

/** The faults in a conversation; all counts must be zero. */
export interface ConversationVerdict {
  /** Questions without a complete answer that is either visible or reported as uncertain. */
  readonly lost: number;
  /** Pieces that were seen twice, and questions answered by more than one reply. */
  readonly doubled: number;
  /**
   * Pieces that follow a later piece of the same reply, and answers that follow the answer to a
   * later question.
   */
  readonly outOfOrder: number;
  /** Pieces that answer a person in another conversation. */
  readonly misdirected: number;
  /** Describes each fault, to help find its cause. */
  readonly faults: readonly string[];
}

/** Compares the visible replies with the questions (D01, D02, D04). */
export function judgeConversation(seen: ConversationResult): ConversationVerdict {
  const { asked, heard } = seen;
  const lost = listQuestions(asked).filter((question) => !isAnswered(question, seen));
  const doubled = [...findRepeats(heard.map(formatStretchName)), ...findRepeatedAnswers(heard)];
  const outOfOrder = [...findMisplacedStretches(heard), ...findMisplacedAnswers(heard)];
  const misdirected = heard.filter(({ answers }) => answers.some((one) => !asked.has(one.sender)));
  return {
    lost: lost.length,
    doubled: doubled.length,
    outOfOrder: outOfOrder.length,
    misdirected: misdirected.length,
    faults: [
      ...lost.map((question) => `${formatQuestionName(question)} is lost`),
      ...doubled,
      ...outOfOrder,
      ...misdirected.map((stretch) => `${formatStretchName(stretch)} is elsewhere`),
    ],
  };
}

function listQuestions(asked: ReadonlyMap<number, number>): Question[] {
  return [...asked].flatMap(([sender, count]) =>
    Array.from({ length: count }, (_, index) => ({ sender, number: index + 1 })),
  );
}

/** Whether every piece of one reply to the question was seen, or is known to be uncertain. */
function isAnswered(question: Question, { heard, uncertain }: ConversationResult): boolean {
  const about = [...heard, ...uncertain].filter(({ answers }) =>
    answers.some((answer) => isSameQuestion(answer, question)),
  );
  const replies = Map.groupBy(about, ({ reply }) => reply);
  return [...replies.values()].some((stretches) => {
    const parts = new Set(stretches.map(({ part }) => part));
    return parts.size === stretches[0]?.of;
  });
}

function findRepeatedAnswers(heard: readonly ReplyStretch[]): string[] {
  const answers = listFirstStretches(heard).flatMap((stretch) =>
    stretch.answers.map((one) => ({ question: formatQuestionName(one), reply: stretch.reply })),
  );
  const byQuestion = Map.groupBy(answers, ({ question }) => question);
  return [...byQuestion].flatMap(([question, [first, ...again]]) =>
    again.map(({ reply }) => `${question} is answered by reply ${first?.reply} and by ${reply}`),
  );
}

function findMisplacedStretches(heard: readonly ReplyStretch[]): string[] {
  const replies = Map.groupBy(heard, ({ reply }) => reply);
  return [...replies.values()].flatMap((stretches) =>
    findDescents(stretches.map((stretch) => [stretch.part, formatStretchName(stretch)])),
  );
}

function findMisplacedAnswers(heard: readonly ReplyStretch[]): string[] {
  const answers = listFirstStretches(heard).flatMap((stretch) =>
    stretch.answers.map((answer) => ({ ...answer, reply: stretch.reply })),
  );
  const bySender = Map.groupBy(answers, ({ sender }) => sender);
  return [...bySender.values()].flatMap((ofSender) =>
    findDescents(
      ofSender.map((one) => [one.number, `${formatQuestionName(one)} in reply ${one.reply}`]),
    ),
  );
}

/**
 * The first visible piece of each reply, in the order in which the replies began; the real first
 * piece may be missing as uncertain.
 */
function listFirstStretches(heard: readonly ReplyStretch[]): ReplyStretch[] {
  const known = new Set<number>();
  return heard.filter(({ reply }) => !known.has(reply) && known.add(reply));
}

/** The entries that are smaller than an earlier one. */
function findDescents(numbered: readonly (readonly [number: number, name: string])[]): string[] {
  let highest: readonly [number: number, name: string] = [0, ''];
  const found: string[] = [];
  for (const one of numbered) {
    if (one[0] < highest[0]) found.push(`${one[1]} is after ${highest[1]}`);
    else highest = one;
  }
  return found;
}

function findRepeats(names: readonly string[]): string[] {
  return names
    .filter((name, at) => names.indexOf(name) < at)
    .map((name) => `${name} is seen again`);
}

function formatStretchName({ reply, part }: ReplyStretch): string {
  return `reply ${reply} part ${part}`;
}

function formatQuestionName({ sender, number }: Question): string {
  return `s${sender}-n${number}`;
}

function isSameQuestion(one: Question, other: Question): boolean {
  return one.sender === other.sender && one.number === other.number;
}
