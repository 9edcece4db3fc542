import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';

/** Where somebody writes. */
export interface Place {
  readonly platform: string;
  readonly account?: string;
  readonly chat: string;
  readonly type?: 'direct' | 'group';
}

/** Names the questions of the last message, and how they were reworded, so that each answer can be told from others. */
export function nameQuestions({ messages }: ModelRequest): string {
  // After an interruption something of Parley's own may follow the question.
  const last = messages.findLast(({ role, text }) => role === 'user' && /\bq\d+\b/.test(text));
  const asked = last?.text.match(/\b[qe]\d+\b/g) ?? [];
  return `This answers ${[...new Set(asked)].join(' and ')}.`;
}

/** The same in several messages, where the platform takes but short ones. */
export function longAnswer(request: ModelRequest): { readonly text: string } {
  const more = ['More about it follows here, line by line.', 'And this is the end of the answer.'];
  return { text: [nameQuestions(request), ...more].join('\n\n') };
}

/** Calls `act` again and again at times that the seed decides, as long as people write. */
export function nowAndThen(
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

/** Somebody asks the next question at a place; returns the id of the message. */
export function askAt(
  simulation: Simulation,
  { platform, account, chat, type = 'direct' }: Place,
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
