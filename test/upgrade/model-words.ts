import { type ChatRequest, getMessageText } from '../model/chat-request.ts';
import type { ScriptedReply } from '../model/scripted-reply.ts';

/**
 * A question as people in the fixture write it: `q7` numbers it, and `tool NAME {…}` requests a
 * call.
 */
const NUMBER = /\bq\d+\b/g;
const CALL = /tool (\w+) (\{.*\})/;

/** Numbers of questions, in the order of their first mention, without duplicates. */
export function findNumbers(text: string): readonly string[] {
  return [...new Set(text.match(NUMBER) ?? [])];
}

/** The model's findings in the heartbeat tasks. */
const FINDINGS: Readonly<Record<string, string>> = {
  mail: 'The landlord asks for an answer today.',
  calendar: 'The dentist has moved to Friday.',
};

/** The question in one request to the model. */
type RequestQuestion =
  | { readonly kind: 'notes' }
  | { readonly kind: 'standing'; readonly task: string }
  | { readonly kind: 'sub-agent'; readonly task: string }
  /** `results` are the results of the calls since the model's last text. */
  | { readonly kind: 'people'; readonly asked: string; readonly results: readonly string[] };

function readQuestion({ messages }: ChatRequest): RequestQuestion {
  const system = getMessageText(messages[0]);
  if (system.startsWith('You keep the notes')) return { kind: 'notes' };
  const [, task] = /## Your task\n+([^\n]*)/.exec(system) ?? [];
  if (task !== undefined) return { kind: 'sub-agent', task };
  const [, due] = /^Task: (\w+)$/m.exec(system) ?? [];
  if (due !== undefined) return { kind: 'standing', task: due };
  const last = messages.findLastIndex(
    (message) => message.role === 'assistant' && getMessageText(message) !== '',
  );
  const since = messages.slice(last + 1);
  const textsOf = (role: string) => since.filter((one) => one.role === role).map(getMessageText);
  const asked = textsOf('user').join('\n');
  return { kind: 'people', asked, results: textsOf('tool') };
}

/**
 * A name for the question of a request, used to hold back its answer: `q7`, `q7 then` (after a
 * call), `task q7`, `mail`.
 */
export function nameRequest(request: ChatRequest): string {
  const question = readQuestion(request);
  switch (question.kind) {
    case 'notes':
      return 'notes';
    case 'standing':
      return question.task;
    case 'sub-agent':
      return `task ${findNumbers(question.task).join(' ')}`;
    case 'people':
      return findNumbers(question.asked).join(' ') + (question.results.length > 0 ? ' then' : '');
  }
}

/**
 * The fixture's model: it makes the requested call, and then names all question numbers since its
 * last text, so that a test sees which message was answered, how often and in what order.
 */
export function createReply(request: ChatRequest): ScriptedReply {
  const question = readQuestion(request);
  switch (question.kind) {
    case 'notes':
      return '# Facts\n- They talked.\n# Tone\n- calm\n';
    case 'standing':
      return FINDINGS[question.task] ?? 'HEARTBEAT_OK';
    case 'sub-agent':
      return `Found out for ${findNumbers(question.task).join(' ')}: parrots talk.`;
    case 'people':
      return answerWords(question.asked, question.results);
  }
}

function answerWords(asked: string, results: readonly string[]): ScriptedReply {
  const [, name, input = '{}'] = CALL.exec(asked) ?? [];
  if (name !== undefined && results.length === 0)
    return { toolCalls: [{ name, arguments: JSON.parse(input) }] };
  const answer = `This answers ${findNumbers(asked).join(' and ')}.`;
  return results.length === 0 ? answer : `${answer} The tool said: ${results.join(' / ')}`;
}
