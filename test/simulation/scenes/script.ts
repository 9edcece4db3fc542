import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelAnswer, ModelMessage, ModelRequest } from '../world/model.ts';

/** A tool call that a script requests. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: object;
}

/**
 * Whether a text is a remark by Parley about the turn, which follows the message being answered.
 */
const isRemark = (text: string): boolean => text.startsWith('[From Parley, no person:');

const isSaid = ({ role, text }: ModelMessage): boolean => role === 'user' && !isRemark(text);

/** The last message from a person, or from Parley acting for one. */
export function getLastPersonText({ messages }: ModelRequest): string {
  return messages.findLast(isSaid)?.text ?? '';
}

/** The questions in a text, without duplicates. */
export function findQuestions(text: string): readonly string[] {
  return [...new Set(text.match(/\bq\d+\b/g) ?? [])];
}

/** The model's calls and their results after the newest questions in their turn. */
export function readCurrentTurn({ messages }: ModelRequest): {
  readonly questions: readonly string[];
  readonly rounds: readonly ModelMessage[];
  readonly results: readonly ModelMessage[];
} {
  const at = messages.findLastIndex(isSaid);
  const behind = messages.slice(at + 1);
  return {
    questions: findQuestions(messages[at]?.text ?? ''),
    rounds: behind.filter(({ calls }) => calls.length > 0),
    results: behind.filter(({ resultOf }) => resultOf !== undefined),
  };
}

/** Requests the calls that a question leads to, one round after another, and then answers. */
export function answerWithCalls(
  request: ModelRequest,
  callsFor: (question: string) => readonly (readonly ScriptedCall[])[],
): ModelAnswer {
  const { questions, rounds } = readCurrentTurn(request);
  const calls = questions.flatMap((question) => callsFor(question)[rounds.length] ?? []);
  if (calls.length > 0) return { calls };
  return { text: `This answers ${questions.join(' and ')}.` };
}

/** The number of a question. */
export function getQuestionNumber(question: string): number {
  return Number(question.slice(1));
}

/** A person's direct chat, in the form that adapters use. */
export function createDirectOrigin(id: string) {
  const sender = { id, name: `Person ${id}`, isBot: false };
  return { chat: { id, type: 'direct' as const }, sender, addressed: true };
}

/** A group chat, in the form that adapters use. */
export function createGroupOrigin(group: string, by: string) {
  return {
    ...createDirectOrigin(by),
    chat: { id: group, type: 'group' as const, title: `Group ${group}` },
  };
}

/**
 * Calls `next` repeatedly after random pauses, as long as people write. `pauses` is their range, in
 * ms.
 */
export function keepAsking(
  simulation: Simulation,
  pauses: readonly [number, number],
  next: (question: string) => void,
): void {
  const { time, span } = simulation;
  const began = time.now;
  const chance = simulation.chance('people');
  let asked = 0;
  const later = (): void => {
    time.plan(chance.between(...pauses), () => {
      if (time.now - began > span) return;
      asked += 1;
      next(`q${asked}`);
      later();
    });
  };
  later();
}

/** The processes and faults of the two deployments of Parley. */
export const EMBEDDED = {
  processes: { parley: 'all' },
  faults: ['kill', 'restart', 'pause', 'clock', 'sends', 'updates', 'model'],
} as const satisfies Partial<SimulationScene>;

export const SHARED = {
  processes: { gateway: 'gateway', 'worker-1': 'worker', 'worker-2': 'worker' },
  faults: ['kill', 'restart', 'pause', 'wake-ups', 'queue-away', 'sends', 'updates', 'model'],
} as const satisfies Partial<SimulationScene>;
