import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';

/** The chat in which a person writes. */
export interface PersonChat {
  readonly platform: string;
  readonly account?: string;
  readonly chat: string;
  readonly type?: 'direct' | 'group';
}

/**
 * Prevents skills from being read. Their files have the timestamps of the real machine, which lie
 * after the simulated clock, so each turn would read all of them again: a quarter of the cost of a
 * seed, though nobody asks for a skill.
 */
export const WITHOUT_SKILLS = { skills: { maxFileBytes: 1_000 } };

/** How many questions one short message names. */
const MAX_IN_A_LINE = 4;

/**
 * Names the questions in the last message, and any rewording, so that each answer can be told apart
 * from other answers.
 */
export function nameQuestions(request: ModelRequest): string {
  return formatAnswer(findRequestQuestions(request));
}

/**
 * Names the questions and rewordings in several messages, for platforms that accept only short
 * messages.
 */
export function createLongAnswer(request: ModelRequest): { readonly text: string } {
  const asked = findRequestQuestions(request);
  const lines: string[] = [];
  for (let at = 0; at < asked.length; at += MAX_IN_A_LINE) {
    lines.push(formatAnswer(asked.slice(at, at + MAX_IN_A_LINE)));
  }
  const more = ['More about it follows here, line by line.', 'And this is the end of the answer.'];
  return { text: [...lines, ...more].join('\n\n') };
}

function formatAnswer(asked: readonly string[]): string {
  return `This answers ${asked.join(' and ')}.`;
}

function findRequestQuestions({ messages }: ModelRequest): readonly string[] {
  // After an interruption a remark from Parley may follow the question.
  const last = messages.findLast(({ role, text }) => role === 'user' && /\bq\d+\b/.test(text));
  return [...new Set(last?.text.match(/\b[qe]\d+\b/g) ?? [])];
}

/** Calls `act` repeatedly at times determined by the seed, as long as people write. */
export function repeatAtRandom(
  simulation: Simulation,
  name: string,
  [from, to]: readonly [number, number],
  act: () => void,
): void {
  const { time, span } = simulation;
  const chosen = simulation.chance(name);
  const next = (): void => {
    time.plan(chosen.between(from, to), () => {
      if (time.now > span) return;
      act();
      next();
    });
  };
  next();
}

/** A person asks the next question in a chat; returns the id of the message. */
export function askAt(
  simulation: Simulation,
  { platform, account, chat, type = 'direct' }: PersonChat,
  words: (question: string) => string = (question) => question,
): string {
  const question = `q${simulation.questions.length + 1}`;
  const message = {
    chat: { id: chat, type },
    sender: { id: `person-${chat}`, name: `Person ${chat}`, isBot: false },
    addressed: true,
  };
  return simulation.ask(platform, question, message, words(question), account);
}
