import type { Question, Stretch } from './words.ts';

/** A conversation after the last kill. */
export interface Seen {
  /** Who wrote, and how many questions each. */
  readonly asked: ReadonlyMap<number, number>;
  /** The stretches of replies as people see them, in order. */
  readonly heard: readonly Stretch[];
  /** Stretches of parts that Parley itself calls uncertain; they may be missing. */
  readonly uncertain: readonly Stretch[];
}

/** What went wrong in a conversation; all zero is the promise. */
export interface Verdict {
  /** Questions without a complete answer, and without a report that it is uncertain. */
  readonly lost: number;
  /** Stretches seen again, and questions answered by more than one reply. */
  readonly doubled: number;
  /** Stretches after a later one of the same reply, and answers after that to a later question. */
  readonly outOfOrder: number;
  /** Stretches that answer somebody of another conversation. */
  readonly misdirected: number;
}

/** Counts what people see against what they asked (D01, D02, D04). */
export function judge(seen: Seen): Verdict {
  return {
    lost: lostIn(seen).length,
    doubled: repeats(seen.heard.map(nameOf)) + answeredAgain(seen.heard),
    outOfOrder: stretchesOutOfOrder(seen.heard) + answersOutOfOrder(seen.heard),
    misdirected: seen.heard.filter(({ answers }) =>
      answers.some(({ sender }) => !seen.asked.has(sender)),
    ).length,
  };
}

/** The questions that have no complete answer. */
export function lostIn(seen: Seen): readonly Question[] {
  return questionsOf(seen.asked).filter((question) => !isAnswered(question, seen));
}

function questionsOf(asked: ReadonlyMap<number, number>): Question[] {
  return [...asked].flatMap(([sender, count]) =>
    Array.from({ length: count }, (_, index) => ({ sender, number: index + 1 })),
  );
}

/** Every stretch of one reply to it was seen, or is known to be uncertain. */
function isAnswered(question: Question, { heard, uncertain }: Seen): boolean {
  const about = [...heard, ...uncertain].filter(({ answers }) =>
    answers.some((answer) => same(answer, question)),
  );
  const replies = Map.groupBy(about, ({ reply }) => reply);
  return [...replies.values()].some((stretches) => {
    const parts = new Set(stretches.map(({ part }) => part));
    return parts.size === stretches[0]?.of;
  });
}

function answeredAgain(heard: readonly Stretch[]): number {
  const first = firstOfEachReply(heard);
  return repeats(
    first.flatMap(({ answers }) => answers.map((one) => `${one.sender}-${one.number}`)),
  );
}

function stretchesOutOfOrder(heard: readonly Stretch[]): number {
  const replies = Map.groupBy(heard, ({ reply }) => reply);
  return [...replies.values()].reduce(
    (sum, stretches) => sum + descents(stretches.map(({ part }) => part)),
    0,
  );
}

function answersOutOfOrder(heard: readonly Stretch[]): number {
  const answers = firstOfEachReply(heard).flatMap((stretch) => stretch.answers);
  const bySender = Map.groupBy(answers, ({ sender }) => sender);
  return [...bySender.values()].reduce(
    (sum, ofSender) => sum + descents(ofSender.map(({ number }) => number)),
    0,
  );
}

/** One stretch of each reply, by when the reply began; its first one may be missing as uncertain. */
function firstOfEachReply(heard: readonly Stretch[]): Stretch[] {
  const known = new Set<number>();
  return heard.filter(({ reply }) => !known.has(reply) && known.add(reply));
}

/** How many are smaller than one before them. */
function descents(numbers: readonly number[]): number {
  let highest = 0;
  let found = 0;
  for (const number of numbers) {
    if (number < highest) found += 1;
    highest = Math.max(highest, number);
  }
  return found;
}

function repeats(names: readonly string[]): number {
  return names.length - new Set(names).size;
}

function nameOf({ reply, part }: Stretch): string {
  return `${reply}-${part}`;
}

function same(one: Question, other: Question): boolean {
  return one.sender === other.sender && one.number === other.number;
}
